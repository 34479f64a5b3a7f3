//! The two methods as the agent calls them: params in, result or JSON-RPC error out.

use acp_runtime::services::fs::{FsErrorCode, FsPolicy, FsService, RelativePaths};
use serde_json::json;

use crate::support::Place;

fn service(place: &Place) -> FsService {
    FsService::open(&place.cwd, FsPolicy { read: true, write: true, ..FsPolicy::default() }).unwrap()
}

fn params(place: &Place, path: &str, more: serde_json::Value) -> String {
    let mut params = json!({ "sessionId": "s", "path": place.path(path) });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params.to_string()
}

#[test]
fn c54_c55_reads_and_writes_go_through() {
    let place = Place::new();
    let fs = service(&place);
    let write = fs.prepare_write(&params(&place, "n.txt", json!({ "content": "1\n2\n3\n4" }))).unwrap();
    assert_eq!((write.path(), write.content()), (place.cwd.join("n.txt").as_path(), "1\n2\n3\n4"));
    write.commit().unwrap();
    let read = |more| fs.read(&params(&place, "n.txt", more)).unwrap().content;
    assert_eq!(read(json!({})), "1\n2\n3\n4");
    assert_eq!(read(json!({ "line": 3, "limit": 2 })), "3\n4");
    assert_eq!(read(json!({ "line": 0, "limit": null })), "1\n2\n3\n4");
    assert_eq!(read(json!({ "line": 99 })), "");
    assert_eq!(read(json!({ "line": 2.5, "limit": 1 })), "2");
}

#[test]
fn everything_is_off_by_default() {
    let place = Place::new();
    let fs = FsService::open(&place.cwd, FsPolicy::default()).unwrap();
    assert!(fs.read(&params(&place, "a.txt", json!({}))).is_err());
    assert!(fs.prepare_write(&params(&place, "a.txt", json!({ "content": "" }))).is_err());
}

#[test]
fn errors_carry_the_protocols_codes() {
    let place = Place::new();
    let fs = service(&place);
    let missing = fs.read(&params(&place, "no é.txt", json!({}))).unwrap_err();
    assert_eq!((missing.code, missing.rpc_code()), (FsErrorCode::NotFound, -32002));
    let uri = format!("file://{}/no%20%C3%A9.txt", place.cwd.display());
    assert_eq!(missing.rpc_data(), json!({ "code": "not_found", "uri": uri }));
    for bad in [
        json!({}),
        json!({ "path": 5 }),
        json!({ "path": "a.txt" }),
        json!({ "path": "" }),
        json!([]),
        json!({ "path": place.path("a.txt"), "line": "three" }),
    ] {
        assert_eq!(fs.read(&bad.to_string()).unwrap_err().rpc_code(), -32602, "{bad}");
    }
    for bad in [json!({}), json!({ "content": 5 }), json!({ "content": null })] {
        let error = fs.prepare_write(&params(&place, "a.txt", bad.clone())).unwrap_err();
        assert_eq!(error.rpc_code(), -32602, "{bad}: a file is never emptied by mistake");
    }
}

#[test]
fn relative_paths_are_refused_unless_the_host_resolves_them() {
    let place = Place::new();
    let error = service(&place).read(r#"{"path":"a.txt"}"#).unwrap_err();
    assert_eq!((error.code, error.rpc_code()), (FsErrorCode::InvalidPath, -32602));
    let policy = FsPolicy { read: true, relative: RelativePaths::Resolve, ..FsPolicy::default() };
    let fs = FsService::open(&place.cwd, policy).unwrap();
    assert_eq!(fs.read(r#"{"path":"a.txt"}"#).unwrap().content, "inside");
    assert!(fs.read(r#"{"path":"../outside/secret"}"#).is_err());
}

#[test]
fn the_read_ceiling_bounds_the_answer_not_the_file() {
    let place = Place::new();
    std::fs::write(place.cwd.join("big"), "0123456789\n".repeat(1000)).unwrap();
    let policy = FsPolicy { read: true, read_max_bytes: 25, ..FsPolicy::default() };
    let fs = FsService::open(&place.cwd, policy).unwrap();
    let read = |more| fs.read(&params(&place, "big", more)).unwrap().content;
    assert_eq!(read(json!({})), "0123456789\n0123456789\n012");
    assert_eq!(read(json!({ "line": 999 })), "0123456789\n0123456789\n");
    assert_eq!(read(json!({ "line": 999, "limit": 500 })).len(), 22);
}
