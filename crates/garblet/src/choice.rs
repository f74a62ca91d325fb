//! The parameters that the link decides: the alternatives of a plan, and the one that all parties take.

use std::sync::Arc;

use garblet_circuit::Party;
use garblet_net::{Difference, Hello, NetError, open_value};
use garblet_protocol::{
    Communication, Phase, Protocol, ProtocolError,
    choice::{ChoiceTerms, Told},
    parameters,
    protocol::Job,
};

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

/// The alternatives of a plan, the standard one first.
pub(crate) struct Open<P: Protocol> {
    wish: Wish,
    jobs: Vec<(Values, Arc<Job<P>>)>,
}

impl<P: Protocol> Open<P> {
    /// The alternatives to a job with standard values, if anything is open between two parties. Among more, who tells one another thing than the rest
    /// could make them take different values; so standard values stand.
    ///
    /// *Errors*: as [`Protocol::plan`].
    pub(crate) fn new(wish: &Wish, job: &Arc<Job<P>>) -> Result<Option<Self>, ProtocolError> {
        if wish.open.is_empty() || job.request.parties != 2 {
            return Ok(None);
        }
        let mut rows: Vec<Values> = vec![Vec::new()];
        for (name, values) in P::LINK_DECIDES.iter().filter(|(name, _)| wish.open.contains(name)) {
            let with = |row: &Values, value| row.iter().copied().chain([(*name, value)]).collect::<Values>();
            rows = rows.iter().flat_map(|row| values.iter().map(move |value| with(row, *value))).collect();
        }
        let alternative = |values: Values| {
            let mut config = job.request.config.clone();
            for (name, value) in &values {
                parameters::set(P::PARAMETERS, &mut config, name, value).map_err(|error| ProtocolError::Input {
                    what: error.what,
                    expected: error.expected,
                    got: error.got,
                })?;
            }
            let same = config == job.request.config;
            Ok((values, if same { job.clone() } else { Arc::new(job.otherwise(config)?) }))
        };
        let jobs = rows.into_iter().map(alternative).collect::<Result<_, ProtocolError>>()?;
        Ok(Some(Open { wish: wish.clone(), jobs }))
    }

    /// A party's hello, in which these parameters are open.
    pub(crate) fn greet(&self, mut hello: Hello) -> Hello {
        for (name, value) in &mut hello.parameters {
            if self.wish.open.contains(&name.as_str()) {
                *value = self.text(name);
            }
        }
        self.wish.told.tell(hello)
    }

    /// The job that all parties take who said these hellos, in order. A value that anybody chose by hand wins.
    ///
    /// *Errors*: parties that chose different values by hand.
    pub(crate) fn choose(&self, hellos: &[Hello]) -> Result<Arc<Job<P>>, ProtocolError> {
        let fits = |values: &Values| {
            values.iter().all(|(name, value)| {
                let mut said = hellos.iter().filter_map(|hello| hello.parameter(name));
                said.all(|said| said == *value || said == self.text(name))
            })
        };
        let jobs: Vec<&Arc<Job<P>>> = self.jobs.iter().filter(|(values, _)| fits(values)).map(|(_, job)| job).collect();
        let told: Vec<Told> = hellos.iter().map(Told::of).collect();
        let terms = ChoiceTerms::new(&told);
        let bare: Vec<Hello> = hellos.iter().map(Hello::bare).collect();
        let times: Vec<u128> = jobs.iter().map(|job| nanoseconds(job, &bare, &terms)).collect();
        jobs.get(terms.cheapest(&times)).map(|job| (*job).clone()).ok_or_else(|| self.torn(hellos))
    }

    /// The job that is taken if all others tell what this party tells.
    pub(crate) fn expected(&self) -> Arc<Job<P>> {
        self.jobs[self.times().1].1.clone()
    }

    /// The jobs of all alternatives.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = &Arc<Job<P>>> {
        self.jobs.iter().map(|(_, job)| job)
    }

    /// All alternatives, if all others tell what this party tells.
    pub(crate) fn alternatives(&self) -> Vec<Alternative> {
        let (times, chosen) = self.times();
        let timed = self.jobs.iter().zip(times).enumerate();
        timed
            .map(|(at, ((parameters, _), time))| Alternative {
                parameters: parameters.clone(),
                seconds: time as f64 / 1e9,
                chosen: at == chosen,
            })
            .collect()
    }

    /// The times of all alternatives, and the number of the one that is taken.
    fn times(&self) -> (Vec<u128>, usize) {
        let hellos: Vec<Hello> = match self.jobs.first() {
            Some((_, job)) => (0..job.request.parties).map(|party| job.hello(Party(party)).bare()).collect(),
            None => Vec::new(),
        };
        let terms = ChoiceTerms::new(&vec![self.wish.told; hellos.len()]);
        let times: Vec<u128> = self.jobs.iter().map(|(_, job)| nanoseconds(job, &hellos, &terms)).collect();
        let chosen = terms.cheapest(&times);
        (times, chosen)
    }

    /// An open parameter as a hello has it.
    fn text(&self, name: &str) -> String {
        let decided = P::LINK_DECIDES.iter().find(|(decided, _)| *decided == name);
        decided.map_or_else(String::new, |(_, values)| open_value(values))
    }

    /// The error for hellos that fit this party's, but not each other.
    fn torn(&self, hellos: &[Hello]) -> ProtocolError {
        let said = |name: &str| {
            let mut said: Vec<&str> = hellos.iter().filter_map(|hello| hello.parameter(name)).collect();
            said.sort_unstable();
            said.dedup();
            Difference { field: name.into(), ours: self.text(name), theirs: said.join(" and ") }
        };
        NetError::Incompatible { differences: self.wish.open.iter().map(|name| said(name)).collect() }.into()
    }
}

/// The time of a job with these hellos, which all parties know alike.
fn nanoseconds<P: Protocol>(job: &Job<P>, hellos: &[Hello], terms: &ChoiceTerms) -> u128 {
    let parties = job.request.parties;
    let Ok(costs) = P::costs(job, hellos) else { return u128::MAX };
    let time = |phase: Phase| {
        let costs: Vec<Communication> = costs.iter().map(|party| party[phase as usize].unwrap_or_default()).collect();
        let work: Vec<_> = (0..parties).map(|party| P::work(job, Party(party), phase)).collect();
        terms.nanoseconds(&costs, &work)
    };
    Phase::ALL.into_iter().map(time).sum()
}
