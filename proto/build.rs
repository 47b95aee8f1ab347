//! Compiles the `.proto` files without a `protoc` on the machine.

use prost::Message as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = ["cantus/v1/bus.proto", "cantus/v1/api.proto", "cantus/v1/journal.proto"];
    for file in files {
        println!("cargo:rerun-if-changed={file}");
    }
    let descriptors = protox::compile(files, ["."])?;
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    let talks = std::env::var_os("CARGO_FEATURE_NET").is_some();
    tonic_prost_build::configure()
        .btree_map(".")
        .build_client(talks)
        .build_server(talks)
        .compile_fds(descriptors)?;
    Ok(())
}
