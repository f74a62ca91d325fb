//! The bytes between a party and its transport, a WebSocket of JavaScript.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use garblet::Class;
use garblet_console::failure::Failure;
use js_sys::{Function, Uint8Array};
use send_wrapper::SendWrapper;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// The approximate overhead of a piece in bytes.
const PIECE_BYTES: usize = 64;

/// JavaScript's end of a connection: it passes on incoming bytes, and says when there is room again.
#[wasm_bindgen]
pub struct Wire {
    state: Arc<Mutex<State>>,
    send: SendWrapper<Function>,
}

#[derive(Default)]
struct State {
    /// Pieces that were received and not read yet, the first one from `read` on.
    come: VecDeque<Vec<u8>>,
    read: usize,
    /// The bytes of all waiting pieces with their overhead, and their limit.
    waiting: usize,
    waiting_max: usize,
    ended: bool,
    /// The failure that has ended it here, if one has.
    wrong: Option<Failure>,
    /// Set while JavaScript has no room.
    full: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[wasm_bindgen]
impl Wire {
    /// A connection over which `send` sends bytes (a `Uint8Array`). It returns whether there is room for more; if not, `drained` is due later.
    /// At most `waiting_max` bytes wait to be read.
    #[wasm_bindgen(constructor)]
    pub fn new(send: Function, waiting_max: f64) -> Wire {
        let state = State { waiting_max: waiting_max as usize, ..State::default() };
        Wire { state: Arc::new(Mutex::new(state)), send: SendWrapper::new(send) }
    }

    /// Takes received bytes. Returns whether there was room for them.
    pub fn heard(&self, bytes: Vec<u8>) -> bool {
        let mut state = lock(&self.state);
        if !bytes.is_empty() {
            let more = state.waiting.saturating_add(bytes.len() + PIECE_BYTES);
            if more > state.waiting_max {
                return false;
            }
            state.waiting = more;
            state.come.push_back(bytes);
        }
        wake(state, |state| state.reader.take());
        true
    }

    /// Says that there is room again.
    pub fn drained(&self) {
        let mut state = lock(&self.state);
        state.full = false;
        wake(state, |state| state.writer.take());
    }

    /// Ends the connection for this reason.
    pub fn fail(&self, reason: &str, hint: &str) {
        lock(&self.state).wrong = Some(Failure::no_result(reason).hint(hint).of_class(Class::Network));
        self.ended();
    }

    /// Says that no more bytes will come.
    pub fn ended(&self) {
        let mut state = lock(&self.state);
        (state.ended, state.full) = (true, false);
        let writer = state.writer.take();
        wake(state, |state| state.reader.take());
        writer.into_iter().for_each(Waker::wake);
    }
}

impl Wire {
    /// The failure that has ended the connection here, if one has.
    pub(crate) fn wrong(&self) -> Option<Failure> {
        lock(&self.state).wrong.take()
    }

    /// The party's end.
    pub(crate) fn stream(&self) -> Stream {
        Stream { state: self.state.clone(), send: self.send.clone() }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes the waiting task once the state is unlocked.
fn wake(mut state: MutexGuard<'_, State>, who: impl FnOnce(&mut State) -> Option<Waker>) {
    let waker = who(&mut state);
    drop(state);
    waker.into_iter().for_each(Waker::wake);
}

/// The party's end of a connection. It never leaves its thread.
pub(crate) struct Stream {
    state: Arc<Mutex<State>>,
    send: SendWrapper<Function>,
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = lock(&self.state);
        let at = state.read;
        let Some(piece) = state.come.front() else {
            if state.ended {
                return Poll::Ready(Ok(()));
            }
            state.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        let more = room.remaining().min(piece.len() - at);
        room.put_slice(&piece[at..at + more]);
        if at + more == piece.len() {
            state.waiting -= piece.len() + PIECE_BYTES;
            state.come.pop_front();
            state.read = 0;
        } else {
            state.read = at + more;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = lock(&self.state);
        if state.ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if state.full {
            state.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        drop(state);
        let broken = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let more = self.send.call1(&JsValue::UNDEFINED, &Uint8Array::from(bytes)).map_err(broken)?;
        lock(&self.state).full = more.is_falsy();
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
