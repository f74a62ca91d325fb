//! Party 0: makes gates and commits to all their wires.

use garblet_circuit::{Bits, Party};
use garblet_homcommit::{Code, CommitSender, SenderShare};
#[cfg(test)]
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::{
    CONSTRUCTOR, Checks, Step,
    config::Config,
    generate::gates::Components,
    order::Order,
    participant::Participant,
    setup::{delta_ot, secrets::Secrets},
    side::{Computed, Prepared, Side},
    stock::{
        orders::Orders,
        pieces::{Wires, Workshop},
        store::Stock,
    },
};
use garblet_protocol::{
    conduct::{Conduct, Honest},
    error::ProtocolError,
    session::Session,
};

/// The constructor of a session.
pub type Constructor<C = Honest> = Participant<ConstructorSide<C>>;

/// Everything that the constructor has for one run.
pub type ConstructorPrepared = Prepared<SenderShare>;

/// The constructor's commitments, OTs and components of a meeting.
pub struct ConstructorSide<C> {
    pub(crate) conduct: C,
    pub(crate) code: Code,
    pub(crate) commitments: CommitSender,
    pub(crate) delta_ot: delta_ot::Constructor,
    pub(crate) delta: Zeroizing<SenderShare>,
    pub(crate) components: Components,
    /// Numbers of the next gate and the next authenticator.
    pub(crate) next_numbers: [u64; 2],
}

impl<C: Conduct<Step>> Side for ConstructorSide<C> {
    const PARTY: Party = CONSTRUCTOR;
    const NAME: &'static str = "constructor";
    type Conduct = C;
    type Wire = SenderShare;

    async fn secrets(session: &mut Session, config: Config) -> Result<Secrets, ProtocolError> {
        Secrets::of_constructor(session, config).await
    }

    fn new(secrets: &Secrets, config: Config, conduct: C) -> Result<Self, ProtocolError> {
        let (commitments, delta_ot) = secrets.constructor(config)?;
        let delta = Zeroizing::new(SenderShare::read(&secrets.delta));
        let (components, next_numbers) = (Components::new(secrets.hashes()), [secrets.first_number(); 2]);
        Ok(ConstructorSide { conduct, code: config.code, commitments, delta_ot, delta, components, next_numbers })
    }

    async fn commit_to_delta(&mut self, session: &mut Session) -> Result<SenderShare, ProtocolError> {
        let mut delta = Zeroizing::new([self.delta_ot.delta().block()]);
        self.conduct.touch(Step::Delta, 0, bytemuck::cast_slice_mut(&mut delta[..]));
        self.delta = Zeroizing::new(self.commitments.commit_to(session.channel(), &delta[..]).await?[0]);
        Ok(*self.delta)
    }

    async fn make(
        &mut self,
        session: &mut Session,
        order: &Order,
        orders: &mut Orders,
        workshop: &mut impl Workshop,
    ) -> Result<(Wires<SenderShare>, Checks), ProtocolError> {
        Ok((self.generate(session, order, orders, workshop).await?, Checks::default()))
    }

    fn material(
        &self,
        pieces: Wires<SenderShare>,
        _: Option<(usize, &mut Stock)>,
    ) -> Result<(Wires<SenderShare>, ()), ProtocolError> {
        Ok((pieces, ()))
    }

    async fn solder(&mut self, session: &mut Session, prepared: &mut ConstructorPrepared) -> Result<(), ProtocolError> {
        self.build(session, prepared).await
    }

    async fn compute(
        &mut self,
        session: &mut Session,
        prepared: ConstructorPrepared,
        values: &[Bits],
        _: &Orders,
    ) -> Result<Computed<SenderShare>, ProtocolError> {
        self.eval(session, prepared, values).await
    }
}

#[cfg(test)]
impl<C> Constructor<C> {
    pub(crate) fn delta(&self) -> Block {
        self.side.delta.message()
    }
}
