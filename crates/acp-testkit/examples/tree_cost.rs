use std::time::{Duration, Instant};
use acp_runtime::process::{Ladder, LaunchSpec, spawn};
fn main() {
    let mb: usize = std::env::args().nth(1).map_or(0, |a| a.parse().unwrap());
    let n: usize = std::env::args().nth(2).map_or(200, |a| a.parse().unwrap());
    let heap = vec![1u8; mb << 20];
    let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    rt.block_on(async {
        tokio::spawn(async move {
            let (mut s, mut d, mut bare, mut w) = (vec![], vec![], vec![], vec![]);
            for i in 0..n {
                let t = Instant::now();
                let sp = spawn(&LaunchSpec::new("/bin/cat", "/")).unwrap();
                s.push(t.elapsed());
                let t = Instant::now();
                drop(sp.stdin);
                sp.tree.exited().await;
                w.push(t.elapsed());
                let t = Instant::now();
                let r = sp.tree.shutdown(Ladder::default()).await;
                d.push(t.elapsed());
                assert!(r.survivors.is_empty());
                let t = Instant::now();
                let mut c = tokio::process::Command::new("/bin/cat").env_clear().stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
                bare.push(t.elapsed());
                drop(c.stdin.take());
                c.wait().await.unwrap();
                if i == 0 { println!("first spawn {:?}", s[0]); }
            }
            let med = |v: &mut Vec<Duration>| { v.sort(); v[v.len() / 2] };
            println!("spawn {:?}  bare spawn {:?}  exit on eof {:?}  shutdown of an ended agent {:?}", med(&mut s), med(&mut bare), med(&mut w), med(&mut d));
        }).await.unwrap();
    });
    println!("{}", heap.len());
}
