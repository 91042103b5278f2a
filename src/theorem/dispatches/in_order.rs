//! Work on several threads with results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

/// The number of waiting results at which threads pause.
const WAITING: usize = 256;

/// Calls `one` with each index below `count`, on several threads. `take` gets the results in order,
/// and ends the work if it returns false. While one index takes long, the other threads continue.
pub(super) fn in_order<T: Send>(threads: usize, count: u64, one: impl Fn(u64) -> T + Sync, mut take: impl FnMut(T) -> bool) {
    let next = AtomicU64::new(0);
    let (sender, receiver) = mpsc::sync_channel(WAITING);
    let work = |sender: mpsc::SyncSender<(u64, T)>| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            // Sending fails once the work has ended.
            if index >= count || sender.send((index, one(index))).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (sender, work) = (sender.clone(), &work);
            scope.spawn(move || work(sender));
        }
        drop(sender);
        let (mut early, mut taken) = (BTreeMap::new(), 0);
        for (index, result) in receiver {
            early.insert(index, result);
            while let Some(result) = early.remove(&taken) {
                taken += 1;
                if !take(result) {
                    return;
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::in_order;
    use std::time::Duration;

    /// Results are in order even if the first takes longest, and no more are taken than needed.
    #[test]
    fn results_are_taken_in_order_until_it_is_enough() {
        let slow_first = |index: u64| {
            if index == 0 {
                std::thread::sleep(Duration::from_millis(50));
            }
            index
        };
        for enough in [7, 700, 1000] {
            let mut taken = Vec::new();
            in_order(3, 1000, slow_first, |index| {
                taken.push(index);
                taken.len() < enough
            });
            assert_eq!(taken, (0..enough as u64).collect::<Vec<_>>());
        }
    }
}
