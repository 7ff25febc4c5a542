//! [`ConnectionPolicy`]: which connections are accepted, and when one that stays open is closed.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A connection is closed after so many requests.
const MOST_REQUESTS: u64 = 10_000;
/// A connection is closed with its first response after this time.
const OLDEST: Duration = Duration::from_secs(300);

/// Shares the places for connections among clients.
///
/// A client of another machine has at most a quarter of them. Where more than three quarters are taken, each response
/// closes its connection, so that clients that keep theirs open make room for those that wait.
pub(crate) struct ConnectionPolicy {
    places: usize,
    /// How many connections are open, of all and of each other machine.
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    all: usize,
    by_peer: HashMap<IpAddr, usize>,
}

impl ConnectionPolicy {
    pub(crate) fn new(places: usize) -> Arc<Self> {
        Arc::new(Self { places, open: Mutex::default() })
    }

    /// A place for a connection; none if its client has too many.
    pub(crate) fn admit(self: &Arc<Self>, peer: SocketAddr) -> Option<Connection> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let ip = peer.ip();
        if !ip.is_loopback() {
            let of_peer = open.by_peer.entry(ip).or_default();
            if *of_peer >= self.places.div_ceil(4) {
                return None;
            }
            *of_peer += 1;
        }
        open.all += 1;
        let policy = Arc::clone(self);
        Some(Connection { policy, ip, since: Instant::now(), requests: AtomicU64::new(0) })
    }

    fn is_crowded(&self) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        4 * open.all > 3 * self.places
    }
}

/// An open connection; its place is free when it is dropped.
pub(crate) struct Connection {
    policy: Arc<ConnectionPolicy>,
    ip: IpAddr,
    since: Instant,
    requests: AtomicU64,
}

impl Connection {
    /// Counts a request, and says whether its response is the last one of the connection.
    pub(crate) fn is_last_request(&self) -> bool {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        requests >= MOST_REQUESTS || self.since.elapsed() >= OLDEST || self.policy.is_crowded()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.policy.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all -= 1;
        if let Some(of_peer) = open.by_peer.get_mut(&self.ip) {
            *of_peer -= 1;
            if *of_peer == 0 {
                open.by_peer.remove(&self.ip);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_share_the_places() {
        let policy = ConnectionPolicy::new(8);
        let peer = |ip: [u8; 4]| SocketAddr::from((ip, 1));
        let held: Vec<_> = (0..3).map(|_| policy.admit(peer([10, 0, 0, 1]))).collect();
        assert_eq!(held.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false]);
        assert!(policy.admit(peer([10, 0, 0, 2])).is_some());
        drop(held);
        assert!(policy.admit(peer([10, 0, 0, 1])).is_some());
        // This machine is not limited so.
        let own: Vec<_> = (0..5).filter_map(|_| policy.admit(peer([127, 0, 0, 1]))).collect();
        assert_eq!(own.len(), 5);
        assert_eq!(policy.open.lock().unwrap().by_peer.len(), 0);
    }

    #[test]
    fn connections_close_where_there_is_little_room() {
        let policy = ConnectionPolicy::new(4);
        let peer = SocketAddr::from(([127, 0, 0, 1], 1));
        let mut open: Vec<_> = (0..3).filter_map(|_| policy.admit(peer)).collect();
        assert!(!open[0].is_last_request());
        open.extend(policy.admit(peer));
        assert!(open[0].is_last_request());
        open.truncate(2);
        assert!(!open[1].is_last_request());
        open[0].requests.store(MOST_REQUESTS, Ordering::Relaxed);
        assert!(open[0].is_last_request());
    }
}
