//! The role of a party in any protocol.

use garblet_circuit::Bits;
use garblet_net::Channel;

use crate::{
    error::ProtocolError,
    security::Security,
    session::{Link, Session},
};

/// A party's role in a protocol over a link, set up for a program.
///
/// Call [`Role::prepare`] any number of times before inputs are known. Each result serves one [`Role::online`].
pub trait Role<L: Link = Channel>: Send {
    /// The material prepared for one run. A run consumes it, so it is used at most once.
    type Prepared: Send + 'static;

    /// The name of the role.
    const NAME: &'static str;

    /// The security of a run.
    fn security(&self) -> Security;

    /// Does all work that can be done before the inputs are known (phases `prepare` and `build`).
    ///
    /// *Errors*: a peer that misbehaves; stores that lack what the program needs; the connection's.
    fn prepare(
        &mut self,
        session: &mut Session<L>,
    ) -> impl Future<Output = Result<Self::Prepared, ProtocolError>> + Send;

    /// Runs once (phase `online`).
    ///
    /// *Shape*: `inputs` are the values of the inputs that this party owns, in program order. Returns one entry per program
    /// output, `None` where this party is not a recipient.
    ///
    /// *Errors*: inputs that do not fit; a peer that misbehaves; the connection's.
    fn online(
        &mut self,
        session: &mut Session<L>,
        prepared: Self::Prepared,
        inputs: &[Bits],
    ) -> impl Future<Output = Result<Vec<Option<Bits>>, ProtocolError>> + Send;

    /// Takes the error that occurred after a run had its outputs: values were not saved, or an answer did not reach its client. The outputs are right.
    fn late_error(&mut self) -> Option<ProtocolError> {
        None
    }

    /// Prepares and runs once, when the inputs are known from the beginning. The messages are the same.
    ///
    /// *Shape* and *errors*: those of both.
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
