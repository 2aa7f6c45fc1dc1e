// SPDX-License-Identifier: MIT
//! Compiles the part of ferry's C library that the crate calls, into the crate.
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the calls for many files consist of; others of the library's folders are not needed.
const FOLDERS: [&str; 2] = ["lib/engine", "lib/files"];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let library = library();
    let objects: Vec<PathBuf> =
        sources(&library).iter().map(|source| compile(source, &library, &out)).collect();

    let archive = out.join("libferry.a");
    // ar would add to one that is left from before.
    let _ = std::fs::remove_file(&archive);
    run(Command::new(tool("AR", "ar")).arg("crs").arg(&archive).args(&objects));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=ferry");
    for name in ["CC", "AR", "CFLAGS"] {
        println!("cargo:rerun-if-env-changed={}", name);
        println!("cargo:rerun-if-env-changed={}_{}", name, target());
    }
}

/// In a clone the library is two folders above; a published crate has a copy of it.
fn library() -> PathBuf {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let copy = here.join("ferry-library");
    if copy.is_dir() {
        copy
    } else {
        here.join("../..")
    }
}

fn sources(library: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("src/layout.c"), library.join("lib/kernel_calls.c")];
    for folder in FOLDERS {
        let folder = library.join(folder);
        println!("cargo:rerun-if-changed={}", folder.display());
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| {
            panic!("ferry's C library is missing: {}: {}", folder.display(), error)
        });
        let paths = entries.map(|entry| entry.expect("a readable folder").path());
        found.extend(paths.filter(|path| path.extension() == Some("c".as_ref())));
    }
    found.sort();
    println!("cargo:rerun-if-changed={}", library.join("include").display());
    println!("cargo:rerun-if-changed=src/layout.c");
    found
}

fn compile(source: &Path, library: &Path, out: &Path) -> PathBuf {
    let folder = source.parent().and_then(Path::file_name).unwrap_or_default();
    let mut name = OsString::from(folder);
    name.push("-");
    name.push(source.file_stem().expect("a source has a name"));
    name.push(".o");
    let object = out.join(name);
    let mut command = Command::new(tool("CC", "gcc"));
    command.args(["-std=gnu11", "-O2", "-g", "-fPIC", "-pthread", "-fvisibility=hidden"]).args([
        "-D_GNU_SOURCE",
        "-DNDEBUG",
        "-Wall",
    ]);
    for include in ["include", "uapi", "."] {
        command.arg("-I").arg(library.join(include));
    }
    if let Some(flags) = setting("CFLAGS").and_then(|flags| flags.into_string().ok()) {
        command.args(flags.split_whitespace());
    }
    run(command.arg("-c").arg(source).arg("-o").arg(&object));
    object
}

fn target() -> String {
    env::var("TARGET").expect("cargo sets TARGET").replace('-', "_")
}

/// The value that the environment has for this target, or for all.
fn setting(name: &str) -> Option<OsString> {
    env::var_os(format!("{}_{}", name, target())).or_else(|| env::var_os(name))
}

/// A program for the target: that of the environment, or GNU's with the usual prefix.
fn tool(name: &str, plain: &str) -> OsString {
    if let Some(program) = setting(name) {
        return program;
    }
    if env::var_os("HOST") == env::var_os("TARGET") {
        return if plain == "gcc" { "cc".into() } else { plain.into() };
    }
    let target = env::var("TARGET").expect("cargo sets TARGET");
    format!("{}-{}", target.replace("-unknown-", "-"), plain).into()
}

fn run(command: &mut Command) {
    let status = command
        .status()
        .unwrap_or_else(|error| panic!("cannot run {:?}: {}", command.get_program(), error));
    assert!(status.success(), "{:?}: {}", command, status);
}
