//! The options for the agreement: a program and the settings of its computation, or a job, which contains both.

use std::path::PathBuf;

use garblet::{Program, Protocol};
use garblet_console::{
    args::{ProgramArgs, ProgramChanges, ProtocolArgs, command_line, shell_line},
    failure::Failure,
    job::Job,
    program,
    settings::Settings,
};

/// A program with its changes, or a job.
#[derive(clap::Args)]
pub(crate) struct SubjectArgs {
    /// A function source (.garble.rs), a circuit file (Bristol, BLIF, AIGER, Yosys, bench, ABY), a program file (JSON or .gbc), or lib:NAME
    #[arg(value_name = "PROGRAM", required_unless_present = "job")]
    program: Option<String>,
    #[command(flatten)]
    changes: ProgramChanges,
    /// Use this job, which replaces the program, changes to it, the protocol and its parameters
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["program", "owners", "recipients", "constants", "function", "panics", "as_it_is", "ports", "reversed", "protocol", "adversary", "params"])]
    job: Option<PathBuf>,
}

/// The agreement of a call, with its program.
pub(crate) struct Agreed {
    pub(crate) args: ProgramArgs,
    pub(crate) program: Program,
    pub(crate) settings: Settings,
    /// `None` if the parties have agreed on the options one by one.
    pub(crate) job: Option<Job>,
}

impl Agreed {
    /// The program, for this number of rows if it is a batch.
    ///
    /// *Errors*: more rows than the job allows; the program becomes too large.
    pub(crate) fn of_rows(&self, rows: Option<u32>) -> Result<Program, Failure> {
        self.job.as_ref().map_or(Ok(()), |job| job.check_rows(rows))?;
        program::batch(self.program.clone(), rows)
    }
}

impl SubjectArgs {
    /// The job, if there is one.
    ///
    /// *Errors*: the file is not a job.
    pub(crate) fn job(&self) -> Result<Option<Job>, Failure> {
        let job = self.job.as_deref().map(Job::load).transpose()?;
        Ok(job.map(|job| job.allowing(self.changes.effort)))
    }

    /// The program's arguments, if there is no job.
    pub(crate) fn program_args(&self) -> ProgramArgs {
        ProgramArgs { program: self.program.clone().unwrap_or_default(), changes: self.changes.clone() }
    }

    /// Loads the program, with these settings or the job's. Without a job, `parties` is the number that the call asks for, if it does.
    ///
    /// *Errors*: an unusable job or program; an unknown protocol or parameter.
    pub(crate) fn load(&self, protocol: &ProtocolArgs, parties: Option<u16>) -> Result<Agreed, Failure> {
        match self.job()? {
            Some(job) => {
                let (args, program) = (job.program_args.clone(), job.program()?);
                let link = protocol.link.map(|link| link.to_string());
                let settings = Settings { link, ..job.settings(protocol.timeout.0) };
                Ok(Agreed { args, program, settings, job: Some(job) })
            }
            None => {
                let args = self.program_args();
                let named = protocol.choice.name(parties.unwrap_or(2)).parse::<Protocol>();
                let reads_gates = named.is_ok_and(Protocol::reads_gates);
                let program = if reads_gates { program::load_in_place(&args)? } else { program::load(&args)? };
                let parties = parties.unwrap_or_default().max(program.party_count());
                let settings = Settings::new(protocol, parties)?;
                let program = match settings.config()?.protocol().reads_gates() {
                    true => program,
                    false => program::whole(program)?,
                };
                Ok(Agreed { args, program, settings, job: None })
            }
        }
    }

    /// A command line of `garblet` with the same agreement, to copy.
    pub(crate) fn command_line(
        &self,
        command: &str,
        settings: &Settings,
        rows: Option<u32>,
        more: &[(&str, String)],
    ) -> String {
        match &self.job {
            Some(job) => {
                let job = [("--job", job.display().to_string())];
                let rows = rows.map(|rows| ("--batch", rows.to_string()));
                shell_line(format!("garblet {command}"), job.into_iter().chain(rows).chain(more.iter().cloned()))
            }
            None => {
                let chosen = (&settings.protocol[..], &settings.params[..]);
                command_line(command, &self.program_args().of_rows(rows), chosen, more)
            }
        }
    }
}
