// SPDX-License-Identifier: MIT
//! Contents and attributes against those of std::fs.
mod common;

use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::fs::{symlink, MetadataExt};
use std::os::unix::io::AsFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use common::{Folder, Random};
use libferry::{lstat_many, read_each, read_parallel, stat_many, Cancel, Fields, Options, Reading};

const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

fn read_all<P: AsRef<Path>>(paths: &[P], how: &Reading<'_>) -> Vec<Result<Vec<u8>, ErrorKind>> {
    let mut all = Vec::new();
    let end = read_each(paths, how, |i, contents| {
        assert_eq!(i, all.len());
        all.push(contents.map(<[u8]>::to_vec).map_err(|error| error.kind()));
        GO_ON
    });
    assert_eq!(end.unwrap(), None);
    all
}

fn read_in_any_order<P: AsRef<Path>>(
    paths: &[P],
    how: &Reading<'_>,
    in_parallel: bool,
) -> Vec<Result<Vec<u8>, ErrorKind>> {
    let all = Mutex::new(vec![None; paths.len()]);
    let each = |i: usize, contents: std::io::Result<&[u8]>| {
        let found = contents.map(<[u8]>::to_vec).map_err(|error| error.kind());
        assert!(all.lock().unwrap()[i].replace(found).is_none(), "{} came twice", i);
        GO_ON
    };
    let end = if in_parallel {
        read_parallel(paths, how, each)
    } else {
        read_each(paths, &how.in_order(false), each)
    };
    assert_eq!(end.unwrap(), None);
    all.into_inner().unwrap().into_iter().map(Option::unwrap).collect()
}

fn plain<P: AsRef<Path>>(paths: &[P]) -> Vec<Result<Vec<u8>, ErrorKind>> {
    paths.iter().map(|path| fs::read(path).map_err(|error| error.kind())).collect()
}

#[test]
fn contents_are_those_of_the_files() {
    let mut random = Random::new();
    let folder = Folder::new();
    let mut paths: Vec<PathBuf> = (0..700)
        .map(|i| {
            let size = if i % 50 == 0 { 200_000 } else { random.below(5000) };
            let bytes: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
            folder.file(&format!("{}", i), &bytes)
        })
        .collect();
    paths.push(folder.path().join("missing"));
    paths.push(folder.file("empty", b""));
    paths.push(folder.file("large", &vec![7; 5_000_000])); // it comes in parts
    let expected = plain(&paths);
    for memory in [1, 5000, 100_000, 8 << 20] {
        for threads in [1, 3] {
            let how = Reading::new().memory(memory).options(Options::new().threads(threads));
            assert!(read_all(&paths, &how.regular(threads == 3)) == expected);
            for in_parallel in [false, true] {
                assert!(read_in_any_order(&paths, &how, in_parallel) == expected);
            }
        }
    }
    let limited = read_all(&paths, &Reading::new().limit(200_000));
    assert_eq!(limited.iter().filter(|found| found.is_err()).count(), 2);
}

#[test]
fn errors_are_of_their_files() {
    let folder = Folder::new();
    let paths = [folder.file("a", b"abc"), folder.path().into(), PathBuf::from("a\0b"), "".into()];
    let found = read_all(&paths, &Reading::new());
    assert_eq!(found[0].as_deref(), Ok(&b"abc"[..]));
    assert_eq!(found[2], Err(ErrorKind::InvalidInput));
    assert_eq!(found[3], Err(ErrorKind::NotFound));
    assert!(found[1].is_err());
    let short = read_all(&paths[..1], &Reading::new().limit(2));
    assert!(short[0].is_err());
    assert_eq!(read_all(&paths[..1], &Reading::new().limit(3))[0].as_deref(), Ok(&b"abc"[..]));
    let none: [&str; 0] = [];
    assert!(read_all(&none, &Reading::new()).is_empty());
}

#[test]
fn devices_only_on_request() {
    let found = read_all(&["/dev/null"], &Reading::new());
    assert!(found[0].is_err());
    assert_eq!(read_all(&["/dev/null"], &Reading::new().devices(true))[0], Ok(Vec::new()));
    assert!(!read_all(&["/proc/self/stat"], &Reading::new())[0].as_ref().unwrap().is_empty());
}

#[test]
fn reading_ends_early() {
    let folder = Folder::new();
    let paths: Vec<_> = (0..2000).map(|i| folder.file(&format!("{}", i % 500), b"x")).collect();
    for last in [0, 300, 1999] {
        let end = read_each(&paths, &Reading::new().memory(4096), |i, _| {
            if i == last {
                ControlFlow::Break(i)
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!(end.unwrap(), Some(last));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            read_each(&paths, &Reading::new().memory(4096), |i, _| {
                assert!(i != last, "mine");
                GO_ON
            })
        }));
        assert!(caught.is_err());
        let end = read_parallel(&paths, &Reading::new(), |i, _| {
            if i == last {
                ControlFlow::Break(i)
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!(end.unwrap(), Some(last));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            read_parallel(&paths, &Reading::new(), |i, _| {
                assert!(i != last, "mine");
                GO_ON
            })
        }));
        assert!(caught.is_err());
    }
    let cancel = Cancel::new();
    let options = Options::new().cancel(&cancel);
    let end = read_each(&paths, &Reading::new().memory(4096).options(options), |_, _| {
        cancel.cancel();
        GO_ON
    });
    assert_eq!(end.unwrap_err().raw_os_error(), Some(125)); // ECANCELED
}

/// Must not be dropped by a thread of the library, which a panic would not be let out of.
struct Precious;

impl Drop for Precious {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "dropped");
    }
}

#[test]
fn two_threads_end_it_at_once() {
    let folder = Folder::new();
    let paths: Vec<_> = (0..200).map(|i| folder.file(&i.to_string(), b"x")).collect();
    let options = Options::new().threads(2);
    let inside = AtomicUsize::new(0);
    let end = read_parallel(&paths, &Reading::new().options(options), |_, _| {
        inside.fetch_add(1, Ordering::SeqCst);
        let begun = Instant::now();
        while inside.load(Ordering::SeqCst) < 2 && begun.elapsed() < Duration::from_secs(5) {}
        ControlFlow::Break(Precious)
    });
    assert_eq!(inside.into_inner(), 2);
    std::mem::forget(end.unwrap().unwrap());
}

#[test]
fn attributes_are_those_of_std() {
    let folder = Folder::new();
    let file = folder.file("file", b"12345");
    symlink("file", folder.path().join("link")).unwrap();
    let paths = [file, folder.path().join("link"), folder.path().into(), "/dev/null".into()];
    let options = Options::new();
    let followed = stat_many(&paths, Fields::BASIC | Fields::BTIME, &options).unwrap();
    let themselves = lstat_many(&paths, Fields::BASIC, &options).unwrap();
    for (i, path) in paths.iter().enumerate() {
        let pairs = [
            (&followed[i], fs::metadata(path).unwrap()),
            (&themselves[i], fs::symlink_metadata(path).unwrap()),
        ];
        for (found, expected) in pairs {
            let found = found.as_ref().unwrap();
            assert_eq!(found.mode(), expected.mode());
            assert_eq!((found.ino(), found.nlink()), (expected.ino(), expected.nlink() as u32));
            assert_eq!((found.size(), found.blocks()), (expected.size(), expected.blocks()));
            assert_eq!((found.uid(), found.gid()), (expected.uid(), expected.gid()));
            assert_eq!(found.modified(), expected.modified().ok());
            assert_eq!(found.file_type().is_dir(), expected.is_dir());
            let (major, minor) = found.device();
            assert_eq!((major << 8 | minor & 0xff) as u8, expected.dev() as u8);
        }
    }
    assert_eq!(
        followed[0].as_ref().unwrap().created(),
        fs::metadata(&paths[0]).unwrap().created().ok()
    );
    assert!(format!("{:?}", followed[0]).contains("size: 5"));
}

#[test]
fn attributes_relative_to_a_directory() {
    let folder = Folder::new();
    folder.file("a", b"abc");
    let opened = fs::File::open(folder.path()).unwrap();
    let options = Options::new().directory(opened.as_fd()).threads(2);
    let found = stat_many(&["a", "none", "a\0"], Fields::SIZE, &options).unwrap();
    assert_eq!(found[0].as_ref().unwrap().size(), 3);
    assert_eq!(found[1].as_ref().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(found[2].as_ref().unwrap_err().kind(), ErrorKind::InvalidInput);
}
