//! `garblet job new`: writes a job for a program.

use std::{
    fs::OpenOptions,
    io::Write,
    num::NonZeroU32,
    path::{Component, Path, PathBuf},
    str::FromStr,
};

use garblet::{Config, formats::value::KeyForm};
use garblet_console::{
    args::{ChoiceArgs, Constant, Param, ProgramArgs},
    failure::Failure,
    identity::TrustArgs,
    inputs::tell_price,
    job::{Job, JobParty, file},
    output::tell,
    program,
    settings::{PartyCount, Settings},
};

/// The options of `garblet job new`.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// A party, in the order of party numbers: its name, and its identity as a fingerprint or a name from `garblet trust list`; only a name for plain TCP
    #[arg(long = "party", value_name = "NAME[=FINGERPRINT|NAME]", required = true)]
    parties: Vec<NamedParty>,
    #[command(flatten)]
    trust: TrustArgs,
    /// Allow batches of at most N rows in a run; each row reveals a result
    #[arg(long, value_name = "N")]
    batch: Option<NonZeroU32>,
    /// Accept texts as keys, which every party normalises and hashes: text, email or uuid
    #[arg(long, value_name = "FORM")]
    hash_keys: Option<KeyForm>,
    /// The name of the job [default: the name of the program's file]
    #[arg(long)]
    name: Option<String>,
    /// The file to write [default: NAME.job.toml in the current folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// `NAME` or `NAME=IDENTITY`.
#[derive(Clone)]
struct NamedParty {
    name: String,
    identity: Option<String>,
}

impl FromStr for NamedParty {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, identity) = match text.split_once('=') {
            Some((name, identity)) => (name, Some(identity.to_string())),
            None => (text, None),
        };
        file::check_name("name", name)?;
        Ok(NamedParty { name: name.into(), identity })
    }
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let settings = Settings::chosen(&options.choice, options.parties.len() as u16)?;
    let name = options.name()?;
    let path = options.out.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.job.toml")));
    let changes = options.program.changes.clone();
    let mut args = ProgramArgs { changes, ..options.program.clone() };
    args.changes.constants = constants(&options.program.changes.constants)?;
    let program = program::load(&args)?;
    let parties = options.parties.iter().map(|party| options.party(party)).collect::<Result<Vec<_>, _>>()?;
    settings.parties(&program, Some(PartyCount::Each(parties.len() as u16)))?;
    // A factor of zero means that there is none; no option for it.
    let config = settings.config()?;
    let can_be_said = |(name, value): &(String, String)| Config::of(config.protocol()).set(name, value).is_ok();
    let parameter = |(name, value)| Param { name, value };
    let written = Job {
        path: path.clone(),
        name,
        program_args: args,
        program_digest: program.digest(),
        protocol: settings.protocol.clone(),
        parameters: config.parameters().into_iter().filter(can_be_said).map(parameter).collect(),
        batch: options.batch.map(NonZeroU32::get),
        hash_keys: options.hash_keys,
        parties,
    };
    if let Some(keys) = written.key_hash() {
        keys.texts(&program).map_err(|error| Failure::call(format!("--hash-keys: {error}")))?;
        tell_price(&keys, &program);
    }
    let text = file::write(&written, &from_folder_of(&path, &options.program.program)?)?;
    // Parse the text before writing it, so that its author sees any mistake.
    let job = file::read(&path, &text).map_err(|fault| Failure::call(format!("{}: {}", path.display(), fault.1)))?;
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(&path).map_err(|e| Failure::unwritable(&path, &e))?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|e| {
        // Part of a job would be in the way of the next attempt.
        let _ = std::fs::remove_file(&path);
        Failure::unwritable(&path, &e)
    })?;
    tell(&format!("wrote {}; the job's digest is:", path.display()));
    garblet_console::output::print(&format!("{}\n", job.digest()))
}

impl Options {
    /// The name of the job.
    fn name(&self) -> Result<String, Failure> {
        let file = || {
            let name = self.program.program.rsplit(['/', ':']).next().unwrap_or_default();
            name.split(['.', '(']).next().unwrap_or_default().to_string()
        };
        let name = self.name.clone().unwrap_or_else(file);
        file::check_name("--name", &name).map_err(Failure::call)?;
        Ok(name)
    }

    fn party(&self, party: &NamedParty) -> Result<JobParty, Failure> {
        let find = |identity: &String| self.trust.find(&format!("--party {}={identity}", party.name), identity);
        let fingerprint = party.identity.as_ref().map(find).transpose()?;
        Ok(JobParty { name: party.name.clone(), fingerprint })
    }
}

/// All constants inline, also those from files, since a job has no other files.
fn constants(given: &[Constant]) -> Result<Vec<Constant>, Failure> {
    let mut all = Vec::new();
    for constant in given {
        match constant {
            Constant::File(path) => {
                let value = |(name, value)| Constant::Value(name, value);
                all.extend(program::constants_in(path)?.into_iter().map(value));
            }
            value => all.push(value.clone()),
        }
    }
    Ok(all)
}

/// A program's path relative to the job file's folder.
fn from_folder_of(job: &Path, program: &str) -> Result<String, Failure> {
    if program.starts_with("lib:") {
        return Ok(program.into());
    }
    let folder = job.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let absolute = |path: &Path| path.canonicalize().map_err(|e| Failure::unreadable(path, &e));
    let (folder, program) = (absolute(folder)?, absolute(Path::new(program))?);
    let shared = folder.components().zip(program.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(program.components().skip(shared)).collect();
    path.to_str()
        .map(String::from)
        .ok_or_else(|| Failure::call(format!("{}: its name is not UTF-8 text", path.display())))
}
