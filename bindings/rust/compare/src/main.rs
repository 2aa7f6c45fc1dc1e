// SPDX-License-Identifier: MIT
//! Walks of a tree by libferry and by other crates, which take turns: names and sizes of all entries.
//!
//! Usage: compare [TREE [ROUNDS]]
//!
//! A side's figures are medians over the rounds.  The ratios are medians of the rounds' ratios to
//! libferry with as many threads.
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use libferry::{Fields, Options, Walk};

/// Entries, the bytes of their names, and their sizes together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    entries: u64,
    names: u64,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, name: &std::ffi::OsStr, size: u64) {
        self.entries += 1;
        self.names += name.len() as u64;
        self.bytes += size;
    }
}

type Side = (&'static str, usize, fn(&Path, usize) -> Sum);

const SIDES: [Side; 8] = [
    ("libferry", 1, libferry),
    ("walkdir", 1, walkdir),
    ("ignore", 1, ignore),
    ("dua-core", 1, dua_core),
    ("libferry", 2, libferry),
    ("ignore", 2, ignore),
    ("jwalk", 2, jwalk),
    ("dua-core", 2, dua_core),
];

fn libferry(root: &Path, threads: usize) -> Sum {
    let mut sum = Sum::default();
    Walk::new(root)
        .fields(Fields::SIZE)
        .options(Options::new().threads(threads as u32))
        .run(|block| {
            for entry in block.entries().filter(|entry| entry.depth() > 0) {
                sum.add(entry.name(), entry.attributes().map_or(0, |found| found.size()));
            }
            ControlFlow::<()>::Continue(())
        })
        .expect("the tree can be walked");
    sum
}

fn walkdir(root: &Path, _: usize) -> Sum {
    let mut sum = Sum::default();
    for entry in walkdir::WalkDir::new(root).min_depth(1).into_iter().flatten() {
        sum.add(entry.file_name(), entry.metadata().map_or(0, |found| found.len()));
    }
    sum
}

fn ignore(root: &Path, threads: usize) -> Sum {
    let (sender, sums) = std::sync::mpsc::channel();
    let mut builder = ignore::WalkBuilder::new(root);
    let builder = builder.standard_filters(false).threads(threads);
    if threads == 1 {
        let mut sum = Sum::default();
        for entry in builder.build().flatten().filter(|entry| entry.depth() > 0) {
            sum.add(entry.file_name(), entry.metadata().map_or(0, |found| found.len()));
        }
        return sum;
    }
    builder.build_parallel().run(|| {
        let mut own = Own(Sum::default(), sender.clone());
        Box::new(move |entry| {
            let own = &mut own; // the closure takes all of it
            if let Some(entry) = entry.ok().filter(|entry| entry.depth() > 0) {
                own.0.add(entry.file_name(), entry.metadata().map_or(0, |found| found.len()));
            }
            ignore::WalkState::Continue
        })
    });
    drop(sender);
    sums.iter().fold(Sum::default(), |a, b| Sum {
        entries: a.entries + b.entries,
        names: a.names + b.names,
        bytes: a.bytes + b.bytes,
    })
}

/// What a thread has counted, which it sends when it ends.
struct Own(Sum, std::sync::mpsc::Sender<Sum>);

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.1.send(self.0);
    }
}

fn jwalk(root: &Path, threads: usize) -> Sum {
    let mut sum = Sum::default();
    let walk = jwalk::WalkDirGeneric::<((), u64)>::new(root)
        .skip_hidden(false)
        .min_depth(1)
        .parallelism(jwalk::Parallelism::RayonNewPool(threads))
        .process_read_dir(|_, _, _, children| {
            for child in children.iter_mut().flatten() {
                child.client_state = child.metadata().map_or(0, |found| found.len());
            }
        });
    for entry in walk.into_iter().flatten() {
        sum.add(&entry.file_name, entry.client_state);
    }
    sum
}

fn dua_core(root: &Path, threads: usize) -> Sum {
    let mut sum = Sum::default();
    let options = dua_core::Options::default();
    for entry in dua_core::walk(root, threads, dua_core::Order::Completion, options, |_| true) {
        if let Some(entry) = entry.ok().filter(|entry| entry.depth > 0) {
            let name = entry.file_name;
            let size = entry.metadata.and_then(Result::ok).map_or(0, |found| found.len());
            sum.add(&name, size);
        }
    }
    sum
}

/// Of all threads of this process
fn cpu_time() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call fills it in.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time =
        |value: libc::timeval| Duration::new(value.tv_sec as u64, value.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let tree = arguments.next().unwrap_or_else(|| "/usr".into());
    let rounds: usize = arguments.next().map_or(15, |text| text.parse().expect("a number"));
    let root = Path::new(&tree);
    let expected = walkdir(root, 1);
    let mut cpu = vec![Vec::new(); SIDES.len()];
    let mut wall = vec![Vec::new(); SIDES.len()];

    for round in 0..rounds {
        for turn in 0..SIDES.len() {
            let i = (turn + round) % SIDES.len();
            let (name, threads, walk) = SIDES[i];
            let (start, before) = (Instant::now(), cpu_time());
            let sum = walk(root, threads);
            cpu[i].push((cpu_time() - before).as_secs_f64() * 1e3);
            wall[i].push(start.elapsed().as_secs_f64() * 1e3);
            assert_eq!(sum, expected, "{} found other entries than walkdir", name);
        }
    }
    println!(
        "{} entries in {}, {} rounds, interleaved; milliseconds\n",
        expected.entries, tree, rounds
    );
    println!(
        "{:<10} {:>7} {:>8} {:>8}   {:>24} {:>25}",
        "", "threads", "CPU", "wall", "libferry's CPU", "libferry's wall"
    );
    for (i, (name, threads, _)) in SIDES.iter().enumerate() {
        let ours =
            SIDES.iter().position(|side| side.0 == "libferry" && side.1 == *threads).unwrap();
        let ratio = |of: &[Vec<f64>]| {
            let ratios: Vec<f64> = of[ours].iter().zip(&of[i]).map(|(a, b)| a / b).collect();
            let low = ratios.iter().copied().fold(f64::MAX, f64::min);
            let high = ratios.iter().copied().fold(0.0, f64::max);
            format!("{:.2} of it ({:.2}-{:.2})", median(ratios), low, high)
        };
        let (of_cpu, of_wall) =
            if ours == i { <_>::default() } else { (ratio(&cpu), ratio(&wall)) };
        println!(
            "{:<10} {:>7} {:>8.1} {:>8.1}   {:>24} {:>25}",
            name,
            threads,
            median(cpu[i].clone()),
            median(wall[i].clone()),
            of_cpu,
            of_wall
        );
    }
    let faster: Vec<f64> = wall[1].iter().zip(&wall[4]).map(|(a, b)| a / b).collect();
    println!("\nlibferry with 2 threads is {:.2} times as fast as walkdir.", median(faster));
}
