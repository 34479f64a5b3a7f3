//! Link settings for a Node addon on each platform.

fn main() {
    napi_build::setup();
}
