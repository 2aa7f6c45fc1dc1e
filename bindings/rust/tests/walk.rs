// SPDX-License-Identifier: MIT
//! Walks against those of the crate walkdir, on random trees.
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{symlink, MetadataExt};
use std::os::unix::io::{AsFd, AsRawFd};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Folder, Random};
use libferry::{Block, Cancel, Fields, FileType, Options, Walk};
use walkdir::WalkDir;

const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

/// Depth, type and size of each path.
type Tree = BTreeMap<PathBuf, (usize, FileType, u64)>;

/// Names that other programs get wrong, and others.
fn random_name(random: &mut Random) -> OsString {
    const ODD: [&[u8]; 8] =
        [b"...", b" ", b"new\nline", b"-rf", b"\xff\xfe", b"\xc3\xa9", b".hidden", b"*"];
    let number = random.below(1000);
    match ODD.get(random.below(16) as usize) {
        Some(odd) => OsString::from_vec(odd.to_vec()),
        None => format!("{}{}", if number % 5 == 0 { "." } else { "" }, number).into(),
    }
}

/// Adds entries to `folder`: files, links and folders.
fn grow(random: &mut Random, root: &Path, folder: &Path, depth: u32) {
    for _ in 0..random.below(12) {
        let path = folder.join(random_name(random));
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match random.below(12) {
            0 => symlink("nowhere", &path).unwrap(),
            1 => symlink(root, &path).unwrap(),
            2 => symlink(".", &path).unwrap(),
            4..=7 if depth < 6 => {
                fs::create_dir(&path).unwrap();
                grow(random, root, &path, depth + 1);
            }
            _ => fs::write(&path, vec![0; random.below(10_000) as usize]).unwrap(),
        }
    }
}

fn random_tree(random: &mut Random) -> Folder {
    let folder = Folder::new();
    for i in 0..4 {
        let path = folder.path().join(format!("top{}", i));
        fs::create_dir(&path).unwrap();
        grow(random, folder.path(), &path, 1);
    }
    let made = Command::new("mkfifo").arg(folder.path().join("fifo")).status();
    assert!(made.unwrap().success());
    folder
}

fn add(tree: &mut Tree, block: &Block<'_>) {
    for entry in block.entries() {
        let size = entry.attributes().map_or(0, |found| found.size());
        let found = (entry.depth() as usize, entry.file_type(), size);
        assert_eq!(tree.insert(entry.path(), found), None, "{:?} came twice", entry.path());
    }
}

fn ours(walk: Walk<'_>) -> Tree {
    let mut tree = Tree::new();
    let end = walk.fields(Fields::BASIC).run(|block| {
        add(&mut tree, block);
        GO_ON
    });
    assert_eq!(end.unwrap(), None);
    tree
}

fn theirs(walk: WalkDir, keep: impl Fn(&walkdir::DirEntry) -> bool) -> Tree {
    // An error stands for a loop of links, whose last link is no entry.
    let entries = walk.into_iter().filter_entry(keep).filter_map(Result::ok);
    entries
        .map(|entry| {
            let data = entry.metadata().unwrap();
            let kind = FileType::from_mode(data.mode());
            (entry.path().to_owned(), (entry.depth(), kind, data.size()))
        })
        .collect()
}

#[test]
fn random_trees() {
    let mut random = Random::new();
    for _ in 0..10 {
        let folder = random_tree(&mut random);
        let root = folder.path();
        let all = theirs(WalkDir::new(root), |_| true);

        assert_eq!(ours(Walk::new(root)), all);
        for threads in [1, 2, 5] {
            let options = Options::new().threads(threads);
            assert_eq!(ours(Walk::new(root).options(options).sorted(threads == 2)), all);
        }
        let depth = random.below(6) as u32;
        assert_eq!(
            ours(Walk::new(root).max_depth(depth)),
            theirs(WalkDir::new(root).max_depth(depth as usize), |_| true)
        );
        assert_eq!(
            ours(Walk::new(root).hidden(false)),
            theirs(WalkDir::new(root), |entry| {
                entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
            })
        );
        assert_eq!(
            ours(Walk::new(root).filter(|entry| entry.name().len() != 3)),
            theirs(WalkDir::new(root), |entry| entry.file_name().len() != 3 || entry.depth() == 0)
        );
    }
}

/// To walkdir, a link that leads nowhere and one that closes a loop are errors instead of entries.
#[test]
fn links_are_followed() {
    let folder = Folder::new();
    folder.file("real/file", b"12345");
    symlink("real", folder.path().join("link")).unwrap();
    symlink("..", folder.path().join("real/up")).unwrap();
    symlink("nowhere", folder.path().join("broken")).unwrap();
    let mut found = ours(Walk::new(folder.path()).follow_links(true));
    let broken = found.remove(&folder.path().join("broken")).unwrap();
    assert_eq!(broken.1, FileType::SYMLINK);
    for name in ["link/up", "real/up"] {
        assert!(found.remove(&folder.path().join(name)).unwrap().1.is_dir());
    }
    assert_eq!(found, theirs(WalkDir::new(folder.path()).follow_links(true), |_| true));

    let mut loops = Vec::new();
    Walk::new(folder.path())
        .follow_links(true)
        .run(|block| {
            loops
                .extend(block.error().map(|error| (error.raw_os_error(), block.path().to_owned())));
            GO_ON
        })
        .unwrap();
    loops.sort();
    let expected: Vec<_> =
        ["link/up", "real/up"].iter().map(|name| (Some(40), folder.path().join(name))).collect();
    assert_eq!(loops, expected);
}

#[test]
fn a_sorted_walk_has_the_order_of_a_recursion() {
    let mut random = Random::new();
    for _ in 0..5 {
        let folder = random_tree(&mut random);
        let mut found = Vec::new();
        Walk::new(folder.path())
            .sorted(true)
            .run(|block| {
                found.push(block.path().to_owned());
                let names: Vec<_> = block.entries().map(|entry| entry.name().to_owned()).collect();
                assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
                GO_ON
            })
            .unwrap();
        // The block of the root has no path.  Whether an empty directory has one is not our matter.
        let is_empty =
            |path: &Path| fs::read_dir(path).map_or(true, |mut all| all.next().is_none());
        let expected: Vec<_> = WalkDir::new(folder.path())
            .sort_by(|a, b| a.file_name().cmp(b.file_name()))
            .into_iter()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_type().is_dir() && !is_empty(entry.path()))
            .map(|entry| entry.into_path())
            .collect();
        found.retain(|path| !path.as_os_str().is_empty() && !is_empty(path));
        assert_eq!(found, expected);
    }
}

#[test]
fn patterns() {
    let folder = Folder::new();
    for name in ["a.rs", "b.o", "src/a.rs", "src/target/x.rs", "target/y.rs", "src/deep/er/c.rs"] {
        folder.file(name, b"");
    }
    folder.file(".gitignore", b"*.o\n/target/\n");
    let files = |walk: Walk<'_>| -> Vec<String> {
        let found = ours(walk).into_iter().filter(|(_, found)| found.1.is_file());
        let below = found.map(|(path, _)| path.strip_prefix(folder.path()).unwrap().to_owned());
        below.map(|path| path.to_str().unwrap().to_owned()).collect()
    };
    let new = || Walk::new(folder.path());
    assert_eq!(files(new().include(["/*.rs", "*.o"])), ["a.rs", "b.o"]);
    assert_eq!(
        files(new().exclude(["target/", ".*"])),
        ["a.rs", "b.o", "src/a.rs", "src/deep/er/c.rs"]
    );
    assert_eq!(
        files(new().ignore_file(".gitignore").hidden(false).exclude(["deep"])),
        ["a.rs", "src/a.rs", "src/target/x.rs"]
    );
    assert!(new().exclude(["a\0b"]).run(|_| GO_ON).is_err());
}

#[test]
fn pruned_directories_are_not_entered() {
    let folder = Folder::new();
    folder.file("in/file", b"");
    folder.file("out/file", b"");
    let mut names = BTreeSet::new();
    Walk::new(folder.path())
        .run(|block| {
            for entry in block.entries().filter(|entry| entry.depth() > 0) {
                names.insert(entry.path().strip_prefix(folder.path()).unwrap().to_owned());
                if entry.name() == "out" {
                    entry.prune();
                }
            }
            GO_ON
        })
        .unwrap();
    let expected: Vec<_> = ["in", "in/file", "out"].iter().map(PathBuf::from).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn tags_and_directories() {
    let folder = Folder::new();
    folder.file("a/file", b"abc");
    Walk::new(folder.path())
        .run(|block| {
            match block.depth() {
                0 => assert!(block.directory().is_none() || block.path().as_os_str().is_empty()),
                1 => block.entries().next().unwrap().set_tag(17),
                _ => {
                    assert_eq!(block.tag(), 17);
                    let directory = block.directory().expect("the first block of a directory");
                    let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
                    assert_eq!(fs::read_link(path).unwrap(), block.path());
                }
            }
            GO_ON
        })
        .unwrap();
}

#[test]
fn a_break_ends_it() {
    let end = Walk::new("/usr").run(|block| match block.depth() {
        0..=1 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(block.path().to_owned()),
    });
    assert!(end.unwrap().unwrap().starts_with("/usr"));
}

#[test]
fn a_panic_goes_on_in_the_caller() {
    for threads in [1, 4] {
        for in_filter in [false, true] {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let walk = Walk::new("/usr/share").options(Options::new().threads(threads));
                let walk = walk.filter(|entry| !in_filter || entry.depth() < 2 || panic!("mine"));
                walk.run(|block| if block.depth() < 2 { GO_ON } else { panic!("mine") })
            }));
            assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "mine");
        }
    }
}

#[test]
fn the_root() {
    let folder = Folder::new();
    let file = folder.file("file", b"abc");
    assert_eq!(
        ours(Walk::new(&file)).into_iter().collect::<Vec<_>>(),
        [(file.clone(), (0, FileType::FILE, 3))]
    );
    let error = Walk::new(folder.path().join("none")).run(|_| GO_ON).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(Walk::new("a\0b").run(|_| GO_ON).is_err());
    let opened = fs::File::open(folder.path()).unwrap();
    let found = ours(Walk::new("file").options(Options::new().directory(opened.as_fd())));
    assert_eq!(found.keys().collect::<Vec<_>>(), [Path::new("file")]);
    symlink("file", folder.path().join("link")).unwrap();
    let link = folder.path().join("link");
    assert_eq!(ours(Walk::new(&link))[&link].1, FileType::FILE);
    assert_eq!(ours(Walk::new(&link).follow_root(false))[&link].1, FileType::SYMLINK);
}

#[test]
fn cancelled() {
    let cancel = Cancel::new();
    let walk = Walk::new("/usr").options(Options::new().cancel(&cancel));
    let error = walk.run(|block| {
        if block.depth() > 0 {
            cancel.cancel();
        }
        GO_ON
    });
    assert_eq!(error.unwrap_err().raw_os_error(), Some(125)); // ECANCELED
}

#[test]
fn a_directory_that_cannot_be_read_is_an_error_of_its_own() {
    let mut errors = 0;
    // Processes end during the walk, and others' folders may not be read.
    Walk::new("/proc")
        .max_depth(3)
        .run(|block| {
            errors += usize::from(block.error().is_some());
            GO_ON
        })
        .unwrap();
    println!("{} errors", errors);
}
