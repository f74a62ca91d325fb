//! The role of a party, whatever the protocol.

use garblet_circuit::Bits;
use garblet_net::Channel;

use crate::{
    error::ProtocolError,
    security::Security,
    session::{Link, Session},
};

/// A party's role in a protocol over a link, set up for a program.
///
/// [`Role::prepare`] may be called any number of times, ahead of inputs; what it returns serves one [`Role::online`].
pub trait Role<L: Link = Channel>: Send {
    /// The material that is prepared for one run; a run consumes it, so it is used at most once.
    type Prepared: Send + 'static;

    /// The name of the role.
    const NAME: &'static str;

    /// The security of a run.
    fn security(&self) -> Security;

    /// Does whatever can be done before the inputs are known (phases `prepare` and `build`).
    ///
    /// *Errors*: a peer that is found to misbehave; stores that lack what the program needs; the connection's.
    fn prepare(
        &mut self,
        session: &mut Session<L>,
    ) -> impl Future<Output = Result<Self::Prepared, ProtocolError>> + Send;

    /// Runs once (phase `online`).
    ///
    /// *Shape*: `inputs` are the values of the inputs that this party owns, in program order. Returns one entry per program
    /// output, none where this party is no recipient.
    ///
    /// *Errors*: inputs that do not fit; a peer that is found to misbehave; the connection's.
    fn online(
        &mut self,
        session: &mut Session<L>,
        prepared: Self::Prepared,
        inputs: &[Bits],
    ) -> impl Future<Output = Result<Vec<Option<Bits>>, ProtocolError>> + Send;

    /// Takes the error that kept values of a finished run from being saved; its outputs are right all the same.
    fn unsaved(&mut self) -> Option<ProtocolError> {
        None
    }

    /// Prepares and runs once, where the inputs are there from the beginning; the same goes over the wire.
    ///
    /// *Shape* and *errors*: as of both.
    fn run(
        &mut self,
        session: &mut Session<L>,
        inputs: &[Bits],
    ) -> impl Future<Output = Result<Vec<Option<Bits>>, ProtocolError>> + Send {
        async {
            let prepared = self.prepare(session).await?;
            self.online(session, prepared, inputs).await
        }
    }
}
