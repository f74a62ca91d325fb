//! Settings from options, and what they say of a program.

use std::sync::Arc;

use garblet::{
    AUTO, Plan, Program, Protocol, SavedValues, StockKinds,
    net::{DEFAULT_TIMEOUT, SimulatedLink},
};

use super::Settings;
use crate::{
    args::{ChoiceArgs, Param, ProtocolArgs},
    failure::Failure,
    hints::{explain, several_hint},
    rates,
    stock::no_store,
};

/// The parameter with the speed of a machine.
const RATES: &str = "rates";

impl Settings {
    /// The settings from the command line, for this number of parties if an adversary chooses the protocol.
    ///
    /// *Errors*: unknown protocols, adversaries or parameters.
    pub fn new(args: &ProtocolArgs, parties: u16) -> Result<Self, Failure> {
        let mut chosen = Settings::chosen(&args.choice, parties)?;
        if let Some(link) = args.link {
            chosen.let_link_decide(link)?;
        }
        Ok(Settings { link: args.link.map(|l| l.to_string()), timeout: args.timeout.0, ..chosen })
    }

    /// The settings for a choice of protocol, without a simulated link.
    ///
    /// *Errors*: as [`Settings::new`].
    pub fn chosen(args: &ChoiceArgs, parties: u16) -> Result<Self, Failure> {
        let (protocol, params) = (args.name(parties), args.params.clone());
        let mut settings = Settings { protocol, params, link: None, timeout: DEFAULT_TIMEOUT, job: None };
        settings.tell_kept_rates()?;
        let config = settings.config()?;
        let (protocol, strongest) = (config.protocol(), config.adversary());
        match args.adversary.filter(|asked| *asked > strongest) {
            None => Ok(settings),
            Some(asked) if protocol.adversary() >= asked => {
                let problem = format!(
                    "--adversary {asked}: with these parameters {protocol} is only secure against {strongest} parties"
                );
                Err(Failure::call(problem).hint(format!("without --param it is secure against {asked} parties")))
            }
            Some(asked) => {
                let problem = format!("--adversary {asked}: {protocol} is only secure against {strongest} parties");
                // The one for two parties has all others in its hint.
                let stronger = Protocol::against(asked, 2);
                Err(Failure::call(problem).hint(match protocol.is_mesh() || parties > 2 {
                    true => {
                        format!("--protocol {stronger} is, for two parties; {}", several_hint(stronger))
                    }
                    false => format!("--protocol {stronger} is secure against {asked} parties"),
                }))
            }
        }
    }

    /// Lets the link decide all parameters that it may decide and that are not given.
    ///
    /// *Errors*: as [`Settings::new`].
    pub fn let_link_decide(&mut self, link: SimulatedLink) -> Result<(), Failure> {
        let decided = self.config()?.protocol().link_decides();
        let told = (!decided.is_empty()).then(|| ("link", link.to_string()));
        let open = decided.iter().map(|(name, _)| (*name, AUTO.into())).chain(told);
        let given = |name: &str| self.params.iter().any(|param| param.name == name);
        let missing: Vec<Param> =
            open.filter(|(name, _)| !given(name)).map(|(name, value)| Param { name: name.into(), value }).collect();
        self.params.extend(missing);
        self.tell_kept_rates()
    }

    /// Tells the others the speed of this machine if that counts, was kept, and no other is given.
    fn tell_kept_rates(&mut self) -> Result<(), Failure> {
        let given = self.params.iter().any(|param| param.name == RATES);
        if !given && self.config()?.lets_link_decide() {
            let kept = rates::kept()?;
            self.params.extend(kept.map(|rates| Param { name: RATES.into(), value: rates.to_string() }));
        }
        Ok(())
    }

    /// Refuses a library if the protocol does not use one.
    pub fn check_library(&self, given: bool) -> Result<(), Failure> {
        let has_library = |protocol: &Protocol| protocol.stock() == Some(StockKinds::Library);
        if !given || has_library(&self.config()?.protocol()) {
            return Ok(());
        }
        let names = Protocol::ALL.iter().copied().filter(has_library).map(Protocol::name).collect::<Vec<_>>();
        Err(Failure::call(format!("--library, --store: {} prepares no components", self.protocol))
            .hint(format!("give --protocol {}", names.join(" or "))))
    }

    /// Prepares a program for one of the protocol's runs.
    ///
    /// *Errors*: the protocol cannot run the program or save the values.
    pub fn plan(&self, program: Program, parties: u16, saved: SavedValues) -> Result<Plan, Failure> {
        let (config, program) = (self.config()?, Arc::new(program));
        if saved != SavedValues::default() && config.protocol().stock().is_some() && config.stock().is_none() {
            return Err(no_store(&config));
        }
        let plan = Plan::saving(program, parties, &config, saved).map_err(|error| explain(&error))?;
        Ok(self.job.iter().cloned().fold(plan, Plan::under))
    }
}
