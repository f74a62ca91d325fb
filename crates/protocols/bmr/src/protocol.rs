//! `bmr` as four [`Protocol`]s: one for each way of making rows jointly.

use std::{marker::PhantomData, ops::RangeInclusive};

use garblet_net::{Hello, Mesh};

use super::{BmrParty, Config, Form, Garbling, Hash, Optimisations, Plan, cost};
use garblet_protocol::{
    Adversary, MeshSession, Protocol, ProtocolError,
    choice::{self, Loads},
    parameters::{self, Parameter, named, ot_kind},
    protocol::{Job, Request, Sample},
};
use garblet_runs::joint::{Joint, RunOrder};

/// A circuit that several semi-honest parties garble together in the way `W`, in a constant number of rounds.
pub struct Joined<W>(PhantomData<W>);

/// A way for the parties to make the rows of a joint garbled circuit.
pub trait Way: Send + Sync + 'static {
    /// The way.
    const GARBLING: Garbling;
    /// The parameters that it takes.
    const PARAMETERS: &'static [Parameter<Config>];
    /// The parameters that the link decides.
    const LINK_DECIDES: &'static [(&'static str, &'static [&'static str])] = &[];
    /// Settings for tests.
    const SAMPLES: &'static [Sample] = &[&[], &[("form", "published")]];
}

/// Garbling by OT: `bmr`.
pub struct ByOt;
/// Garbling by BGW with the published polynomials: `bmr-bgw4`.
pub struct ByBgw4;
/// Garbling by BGW with polynomials of a lower degree: `bmr-bgw3`.
pub struct ByBgw3;
/// Garbling by BGW in two rounds: `bmr-bgw2`.
pub struct ByBgw2;

/// `bmr`.
pub type Bmr = Joined<ByOt>;
/// `bmr-bgw4`.
pub type BmrBgw4 = Joined<ByBgw4>;
/// `bmr-bgw3`.
pub type BmrBgw3 = Joined<ByBgw3>;
/// `bmr-bgw2`.
pub type BmrBgw2 = Joined<ByBgw2>;

const PUBLISHED: Form = Form::Published(Optimisations::BothWays);
const OT_FORMS: [(&str, Form); 6] = [
    ("half-gates", Form::HalfGates),
    ("linear", Form::Linear),
    ("published", PUBLISHED),
    ("basic", Form::Published(Optimisations::Basic)),
    ("three-strings", Form::Published(Optimisations::ThreeStrings)),
    ("correlated", Form::Published(Optimisations::Correlated)),
];
const BGW_FORMS: [(&str, Form); 2] = [("linear", Form::Linear), ("published", PUBLISHED)];
const HASHES: [(&str, Hash); 3] =
    [("rekeyed", Hash::Rekeyed), ("fixed-key", Hash::FixedKey), ("aes-256", Hash::Aes256)];

const HASH: Parameter<Config> = named!("hash", "rekeyed, fixed-key or aes-256", hash, HASHES);
const OT_WIDTH: Parameter<Config> = Parameter {
    name: "ot-k",
    values: "2, 4 or 8",
    tacit: None,
    get: |config| config.width().bits().to_string(),
    set: |config, value| parameters::put(&mut config.ot_width, parameters::width(value).map(Some)),
};
const BGW: &[Parameter<Config>] = &[named!("form", "linear or published", form, BGW_FORMS), HASH];

impl Way for ByOt {
    const GARBLING: Garbling = Garbling::Ot;
    const SAMPLES: &'static [Sample] = &[&[], &[("form", "linear")], &[("form", "published")], &[("ot", "silent")]];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        named!("form", "half-gates, linear, published, basic, three-strings or correlated", form, OT_FORMS),
        HASH,
        OT_WIDTH,
        ot_kind!(Some("extension")),
    ];
    const LINK_DECIDES: &'static [(&'static str, &'static [&'static str])] = &[("ot", &["extension", "silent"])];
}

impl Way for ByBgw4 {
    const GARBLING: Garbling = Garbling::Bgw4;
    /// Without `form`: only the published form exists.
    const PARAMETERS: &'static [Parameter<Config>] = &[HASH];
    const SAMPLES: &'static [Sample] = &[&[]];
}

impl Way for ByBgw3 {
    const GARBLING: Garbling = Garbling::Bgw3;
    const PARAMETERS: &'static [Parameter<Config>] = BGW;
}

impl Way for ByBgw2 {
    const GARBLING: Garbling = Garbling::Bgw2;
    const PARAMETERS: &'static [Parameter<Config>] = BGW;
}

impl<W: Way> Protocol for Joined<W> {
    type Link = Mesh;
    type Config = Config;
    type Plan = Plan;
    type Order = RunOrder<Self>;

    const NAME: &'static str = W::GARBLING.name();
    const ADVERSARY: Adversary = Adversary::SemiHonest;
    const PARTIES: RangeInclusive<u16> = W::GARBLING.parties();
    const PARAMETERS: &'static [Parameter<Config>] = W::PARAMETERS;
    const LINK_DECIDES: &'static [(&'static str, &'static [&'static str])] = W::LINK_DECIDES;
    const SAMPLES: &'static [Sample] = W::SAMPLES;

    fn standard() -> Config {
        Config::of(W::GARBLING)
    }

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        let config = Config { garbling: W::GARBLING, ..request.config };
        Plan::new(request.program.clone(), request.parties, config)
    }

    fn plan_otherwise(job: &Job<Self>, request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Ok(job.plan.otherwise(request.config))
    }

    fn loads(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<Loads>, ProtocolError> {
        Ok(choice::loads(Self::costs(job, hellos)?, |party, phase| cost::work(&job.plan, party, phase)))
    }

    garblet_runs::runs_in_stores!();
}

impl<W: Way> Joint for Joined<W> {
    type Party = BmrParty;
}
