//! `garblet visit`: a client that sends shares of its inputs to two servers and combines their answers into the result.

use std::path::PathBuf;

use garblet::{Bits, Class, Party, Program};
use garblet_console::{
    args::Time,
    failure::{Failure, first_failure},
    inputs::{self, ArrangeArgs, InputArgs, InputFile},
    output::{print, print_json},
    report::{check_panics, outputs_text},
    visit::{Answered, Visitor},
};

/// The options of `garblet visit`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The agreement of the servers (TOML), as they have it
    #[arg(value_name = "AGREEMENT")]
    agreement: PathBuf,
    /// The program's name in the agreement; for a program per client, without the client's name
    #[arg(value_name = "PROGRAM")]
    program: String,
    /// A file with the invitation of a server, the generator's first (`garblet keygen --client`)
    #[arg(long = "invitation", value_name = "FILE", required = true, num_args = 1)]
    invitations: Vec<PathBuf>,
    /// The address of the generator
    #[arg(long, value_name = "HOST:PORT")]
    generator: String,
    /// The address of the cloud
    #[arg(long, value_name = "HOST:PORT")]
    cloud: String,
    /// This client's inputs: JSON {"port": value}, or CSV for an array
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    #[command(flatten)]
    arrange: ArrangeArgs,
    /// The names of all clients of the run, in the program's order, if there are several; each of them visits the servers
    #[arg(long = "with", value_name = "NAME", value_delimiter = ',')]
    clients: Vec<String>,
    /// A label that distinguishes this run from the clients' other runs
    #[arg(long, value_name = "TEXT", default_value = "")]
    label: String,
    /// The file where this client keeps its receipts [default: a file in the configuration folder]
    #[arg(long, value_name = "FILE")]
    receipts: Option<PathBuf>,
    /// Ask again for the answers to the last visit, which did not arrive
    #[arg(long, conflicts_with_all = ["input", "clients", "label"])]
    resume: bool,
    /// Forget the last, unanswered visit, and count from the clock on: if it was run after all, an input that you give again counts twice
    #[arg(long, conflicts_with = "resume")]
    give_up: bool,
    /// Give up after this long without an answer from a server
    #[arg(long, value_name = "TIME", default_value = "60s")]
    timeout: Time,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let [generator, cloud] = &options.invitations[..] else {
        let got = options.invitations.len();
        return Err(Failure::call(format!("--invitation: expected two, the generator's first, got {got}")));
    };
    let addresses = [options.generator.clone(), options.cloud.clone()];
    let asked = (options.program.clone(), addresses, options.timeout.0);
    let mut visitor = Visitor::new(&options.agreement, [generator, cloud], asked)?;
    visitor.client.clients.clone_from(&options.clients);
    visitor.client.label.clone_from(&options.label);
    visitor.receipts.clone_from(&options.receipts);
    visitor.client.give_up = options.give_up;
    let mut answered = match options.resume {
        true => visitor.resume()?,
        false => visitor.visit(|program, party| options.values(program, party))?,
    };
    // An output that nobody has seen can be asked for again. A panic is an outcome too.
    match options.tell(&visitor, &answered) {
        Err(unseen) if unseen.class != Class::Panic => Err(unseen),
        told => first_failure(told, answered.keep()),
    }
}

impl Options {
    fn values(&self, program: &Program, party: Party) -> Result<Vec<Bits>, Failure> {
        let file = self.input.iter().map(|path| InputFile { party, path: path.clone() });
        let args = InputArgs { inputs: file.collect(), arrange: self.arrange.clone(), ..InputArgs::default() };
        let (values, _) = inputs::of_this_party(program, &args, party).map_err(|failure| match self.input {
            None => failure.hint("give --input FILE.json"),
            Some(_) => failure,
        })?;
        Ok(values.into_iter().map(|(_, value)| value).collect())
    }

    /// Prints the outcome.
    ///
    /// *Errors*: the computation panicked; standard output cannot be written.
    fn tell(&self, visitor: &Visitor, answered: &Answered) -> Result<(), Failure> {
        let (program, outputs) = (visitor.program_of(answered)?, visitor.outputs(answered)?);
        check_panics(program, &outputs)?;
        match self.json {
            true => print_json(&visitor.report(answered, &outputs)?),
            false => print(&outputs_text(program, &outputs)),
        }
    }
}
