//! Channels: memory, TCP, TLS; byte and round counters; simulated links.
