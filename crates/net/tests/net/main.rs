//! Channels, meshes and visitors through their public API, among strangers and insiders.

mod channel;
mod decoders;
mod faults;
mod link;
mod mesh;
mod mesh_insider;
mod messages;
mod pace;
mod sessions;
mod strangers;
mod transports;
mod visitors;
