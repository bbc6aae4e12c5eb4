//! The only outward sockets: DNS, connections, conditional requests, caps.
