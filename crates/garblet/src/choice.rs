//! The parameters that the link decides: the alternatives of a plan, and the one that all parties take.

use std::{collections::BTreeMap, sync::Arc};

use garblet_circuit::Party;
use garblet_net::{Difference, Hello, MayBeOpen, NetError, open_value};
use garblet_protocol::{
    Phase, Protocol, ProtocolError,
    choice::{ChoiceTerms, Load, Loads, Told},
    parameters,
    protocol::Job,
};
use garblet_store::Store;

/// One way to run a program, with the time that it is expected to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The parameters that the link decides, with their values.
    pub parameters: Vec<(&'static str, &'static str)>,
    /// The expected time of all phases, in seconds.
    pub seconds: f64,
    /// Set for the one that would be taken.
    pub chosen: bool,
}

/// The names of the parameters that the link decides, and what this party tells the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wish {
    pub(crate) open: Vec<&'static str>,
    pub(crate) told: Told,
}

/// The values of the open parameters.
type Values = Vec<(&'static str, &'static str)>;

/// One way to do a thing: the values of the open parameters, all parameters, and the thing under them.
#[derive(Clone)]
struct Alternately<C, T> {
    values: Values,
    config: C,
    thing: T,
}

/// The ways to do a thing, the standard one first.
pub(crate) struct Open<P: Protocol, T> {
    wish: Wish,
    ways: Vec<Alternately<P::Config, T>>,
}

/// The ways to run a program.
pub(crate) type OpenJob<P> = Open<P, Arc<Job<P>>>;

/// The parameters that may be open in a hello of one of so many parties. Among more than two, who tells one another thing than the rest could make them take
/// different values; so standard values stand.
pub(crate) fn may_be_open<P: Protocol>(parties: u16) -> Vec<MayBeOpen> {
    let decides = if parties == 2 { P::LINK_DECIDES } else { &[] };
    decides.iter().map(|(name, _)| (*name, tacit::<P>(name))).collect()
}

/// The value of a parameter that hellos do not name.
fn tacit<P: Protocol>(name: &str) -> Option<&'static str> {
    P::PARAMETERS.iter().find(|parameter| parameter.name == name)?.tacit
}

/// An open parameter as a hello has it.
fn open_text<P: Protocol>(name: &str) -> String {
    let decided = P::LINK_DECIDES.iter().find(|(decided, _)| *decided == name);
    decided.map_or_else(String::new, |(_, values)| open_value(values))
}

/// The value of a parameter in a hello.
fn said<'a, P: Protocol>(hello: &'a Hello, name: &str) -> Option<&'a str> {
    hello.parameter(name).or(tacit::<P>(name))
}

impl<P: Protocol, T> Open<P, T> {
    /// The ways to do what `thing` makes under each, if anything is open among so many parties. `config` has the standard values.
    ///
    /// *Errors*: those of `thing`.
    pub(crate) fn new(
        wish: &Wish,
        parties: u16,
        config: &P::Config,
        thing: impl Fn(&P::Config) -> Result<T, ProtocolError>,
    ) -> Result<Option<Self>, ProtocolError> {
        if wish.open.is_empty() || parties != 2 {
            return Ok(None);
        }
        let mut rows: Vec<Values> = vec![Vec::new()];
        for (name, values) in P::LINK_DECIDES.iter().filter(|(name, _)| wish.open.contains(name)) {
            let with = |row: &Values, value| row.iter().copied().chain([(*name, value)]).collect::<Values>();
            rows = rows.iter().flat_map(|row| values.iter().map(move |value| with(row, *value))).collect();
        }
        let way = |values: Values| {
            let mut config = config.clone();
            for (name, value) in &values {
                parameters::set(P::PARAMETERS, &mut config, name, value).map_err(|error| ProtocolError::Input {
                    what: error.what,
                    expected: error.expected,
                    got: error.got,
                })?;
            }
            let thing = thing(&config)?;
            Ok(Alternately { values, config, thing })
        };
        let ways = rows.into_iter().map(way).collect::<Result<_, ProtocolError>>()?;
        Ok(Some(Open { wish: wish.clone(), ways }))
    }

    /// The ways that are left with a store: those under whose values it was filled, or all if it is new. `None` if the standard values stand, since its protocol
    /// fills stores under no others, or since it was filled for something else altogether, which the protocol refuses.
    pub(crate) fn with_store(&self, store: &Store) -> Option<Self>
    where
        T: Clone,
    {
        let bound = store.binding().map(|binding| &binding.protocol);
        let fits = |way: &&Alternately<P::Config, T>| {
            P::bound_as(&way.config).is_some_and(|name| bound.is_none_or(|bound| *bound == name))
        };
        let ways: Vec<_> = self.ways.iter().filter(fits).cloned().collect();
        (!ways.is_empty()).then(|| Open { wish: self.wish.clone(), ways })
    }

    /// A party's hello, in which these parameters are open unless all ways that are left have the same value.
    pub(crate) fn greet(&self, mut hello: Hello) -> Hello {
        for name in &self.wish.open {
            let text = self.text(name);
            let given = hello.parameters.iter().position(|(given, _)| given == name);
            match given {
                Some(at) => hello.parameters[at].1 = text,
                None if tacit::<P>(name) != Some(&text) => hello = hello.with(name, text),
                None => {}
            }
        }
        self.wish.told.tell(hello)
    }

    /// The thing that all parties take who said these hellos, in order. A value that anybody chose by hand wins.
    ///
    /// *Errors*: parties that chose different values by hand.
    pub(crate) fn choose(
        &self,
        hellos: &[Hello],
        loads: impl Fn(&T, &[Hello]) -> Option<Vec<Loads>>,
    ) -> Result<&T, ProtocolError> {
        let fits = |values: &Values| {
            values.iter().all(|(name, value)| {
                let mut said = hellos.iter().filter_map(|hello| said::<P>(hello, name));
                said.all(|said| said == *value || said == open_text::<P>(name))
            })
        };
        let things: Vec<&T> = self.ways.iter().filter(|way| fits(&way.values)).map(|way| &way.thing).collect();
        let told: Vec<Told> = hellos.iter().map(Told::of).collect();
        let terms = ChoiceTerms::new(&told);
        let bare: Vec<Hello> = hellos.iter().map(Hello::bare).collect();
        let times: Vec<u128> = things.iter().map(|thing| nanoseconds(loads(thing, &bare), &terms)).collect();
        things.get(terms.cheapest(&times)).copied().ok_or_else(|| self.torn(hellos))
    }

    /// A parameter as this party's hello has it: its value if only one is left.
    fn text(&self, name: &str) -> String {
        let of = |way: &Alternately<P::Config, T>| way.values.iter().find(|(open, _)| *open == name).map(|(_, v)| *v);
        let mut left: Vec<&str> = self.ways.iter().filter_map(of).collect();
        left.dedup();
        if let [one] = left[..] { one.into() } else { open_text::<P>(name) }
    }

    /// The error for hellos that fit this party's, but not each other.
    fn torn(&self, hellos: &[Hello]) -> ProtocolError {
        let said = |name: &str| {
            let mut said: Vec<&str> = hellos.iter().filter_map(|hello| said::<P>(hello, name)).collect();
            said.sort_unstable();
            said.dedup();
            Difference { field: name.into(), ours: self.text(name), theirs: said.join(" and ") }
        };
        NetError::Incompatible { differences: self.wish.open.iter().map(|name| said(name)).collect() }.into()
    }
}

impl<P: Protocol> OpenJob<P> {
    /// The ways to run a job with standard values.
    ///
    /// *Errors*: as [`Protocol::plan`].
    pub(crate) fn of_job(wish: &Wish, job: &Arc<Job<P>>) -> Result<Option<Self>, ProtocolError> {
        let request = &job.request;
        Open::new(wish, request.parties, &request.config, |config: &P::Config| {
            Ok(if *config == request.config { job.clone() } else { Arc::new(job.otherwise(config.clone())?) })
        })
    }

    /// The job under the values of a store, or under the standard ones.
    pub(crate) fn stored(&self, store: &Store) -> Option<Arc<Job<P>>> {
        self.with_store(store)?.ways.first().map(|way| way.thing.clone())
    }

    /// The job that is taken if all others tell what this party tells.
    pub(crate) fn expected(&self) -> Arc<Job<P>> {
        self.ways[self.times().1].thing.clone()
    }

    /// The jobs of all ways.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = &Arc<Job<P>>> {
        self.ways.iter().map(|way| &way.thing)
    }

    /// All alternatives, if all others tell what this party tells.
    pub(crate) fn alternatives(&self) -> Vec<Alternative> {
        let (times, chosen) = self.times();
        let timed = self.ways.iter().zip(times).enumerate();
        timed
            .map(|(at, (way, time))| Alternative {
                parameters: way.values.clone(),
                seconds: time as f64 / 1e9,
                chosen: at == chosen,
            })
            .collect()
    }

    /// The times of all ways, and the number of the one that is taken.
    fn times(&self) -> (Vec<u128>, usize) {
        let hellos: Vec<Hello> = match self.jobs().next() {
            Some(job) => (0..job.request.parties).map(|party| job.hello(Party(party)).bare()).collect(),
            None => Vec::new(),
        };
        let terms = ChoiceTerms::new(&vec![self.wish.told; hellos.len()]);
        let times: Vec<u128> = self.jobs().map(|job| nanoseconds(job_loads(job, &hellos), &terms)).collect();
        let chosen = terms.cheapest(&times);
        (times, chosen)
    }
}

/// The loads of a job, if stores can hold enough for it.
pub(crate) fn job_loads<P: Protocol>(job: &Arc<Job<P>>, hellos: &[Hello]) -> Option<Vec<Loads>> {
    P::loads(job, hellos).ok()
}

/// The time of all phases with these loads, which all parties know alike.
fn nanoseconds(loads: Option<Vec<Loads>>, terms: &ChoiceTerms) -> u128 {
    let Some(loads) = loads else { return u128::MAX };
    let time = |phase: Phase| {
        let loads: Vec<&Load> = loads.iter().map(|loads| &loads[phase as usize]).collect();
        terms.nanoseconds(&loads)
    };
    Phase::ALL.into_iter().map(time).sum()
}

/// The values of the parameters with these names.
pub(crate) fn values_of<P: Protocol>(config: &P::Config, names: &[&str]) -> BTreeMap<String, String> {
    let values = parameters::get(P::PARAMETERS, config);
    values.into_iter().filter(|(name, _)| names.contains(&name.as_str())).collect()
}
