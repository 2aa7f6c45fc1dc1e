// SPDX-License-Identifier: MIT
//! Finds entries by a part of their names, as fd does.
//!
//! Usage: find [-H] [-d DEPTH] [-t f|d] [-e EXTENSION] [PATTERN [ROOT...]]
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;

use libferry::{Entry, Walk};

#[derive(Default)]
struct Search {
    pattern: Vec<u8>,
    ignore_case: bool,
    directories: Option<bool>,
    end: Vec<u8>,
}

impl Search {
    fn finds(&self, entry: &Entry<'_>) -> bool {
        let name = entry.name().as_bytes().to_vec();
        let ends = name.ends_with(&self.end);
        let name = if self.ignore_case { name.to_ascii_lowercase() } else { name };
        let found = self.pattern.is_empty()
            || name.windows(self.pattern.len()).any(|part| part == self.pattern);
        entry.depth() > 0
            && ends
            && found
            && self.directories.map_or(true, |wanted| wanted == entry.file_type().is_dir())
    }
}

fn main() -> io::Result<()> {
    let (mut search, mut hidden, mut depth) = (Search::default(), false, u32::MAX);
    let (mut words, mut arguments) = (Vec::new(), std::env::args().skip(1));
    while let Some(word) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_else(|| panic!("{} needs a value", word));
        match word.as_str() {
            "-H" => hidden = true,
            "-d" => depth = value().parse().expect("a depth is a number"),
            "-e" => search.end = format!(".{}", value()).into_bytes(),
            "-t" => search.directories = Some(value() == "d"),
            _ => words.push(word),
        }
    }
    let pattern = if words.is_empty() { String::new() } else { words.remove(0) };
    search.ignore_case = !pattern.contains(char::is_uppercase); // fd's smart case
    search.pattern = pattern.into_bytes();
    words.resize(words.len().max(1), ".".into());
    let mut out = BufWriter::new(io::stdout());
    for root in words {
        let walk = Walk::new(root).hidden(hidden).max_depth(depth);
        let end = walk.run(|block| {
            if let Some(error) = block.error() {
                eprintln!("find: {}: {}", block.path().display(), error);
            }
            let mut lines = Vec::new();
            for entry in block.entries().filter(|entry| search.finds(entry)) {
                lines.extend_from_slice(entry.path().as_os_str().as_bytes());
                lines.push(b'\n');
            }
            out.write_all(&lines).map_or_else(ControlFlow::Break, ControlFlow::Continue)
        })?;
        end.map_or(Ok(()), Err)?;
    }
    out.flush()
}
