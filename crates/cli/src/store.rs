//! `garblet store`: shows prepared material and its use, and maintains stores.

use std::path::PathBuf;

use garblet::{
    Notice, SavedNames, SavedState, notices,
    runs::program_of,
    settle,
    store::{Kind, Stock, Store, StoreKey, Verified},
};
use garblet_console::{
    configuration::in_configuration,
    failure::Failure,
    hints::{explain, store_failure},
    output::{bytes, count, print, print_json, table},
    progress::ByteBar,
    stock::{check_record, load_or_create_key},
};
use serde::Serialize;

/// The subcommands of `garblet store`.
#[derive(clap::Subcommand)]
pub(crate) enum StoreCommand {
    /// Create an empty store, and the key if there is none
    Init(Options),
    /// Show for each kind what is available, used and lost, and its size on disk
    List(Options),
    /// Read everything, and report damage
    Verify {
        #[command(flatten)]
        options: Options,
        /// Discard damaged pieces, so that they are not offered again
        #[arg(long)]
        drop: bool,
    },
    /// Free the space of used pieces
    Compact(Options),
    /// Reset two counts: orders of gates that the peer left unfinished (lego), and runs that should have kept values and did not end (authenticated, lego, outsourced)
    Allow(Options),
    /// Close a state (outsourced) forever; the other server learns of it at the next meeting
    Close {
        #[command(flatten)]
        options: Options,
        /// The name of the state
        #[arg(value_name = "NAME")]
        state: String,
    },
    /// Discard everything that was prepared; the peer's store follows at the next meeting
    Clear {
        #[command(flatten)]
        options: Options,
        /// Remove the store itself, even if it is damaged or its key is lost; the peer must then create a new store too
        #[arg(long)]
        all: bool,
    },
}

/// The store, its key, and the output format.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The key that encrypts the store, 32 bytes [default: store.key in the configuration folder]
    #[arg(long, value_name = "FILE")]
    store_key: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs `garblet store`.
pub(crate) fn run(command: &StoreCommand) -> Result<(), Failure> {
    match command {
        StoreCommand::Init(options) => init(options),
        StoreCommand::List(options) => list(options),
        StoreCommand::Verify { options, drop } => verify(options, *drop),
        StoreCommand::Compact(options) => compact(options),
        StoreCommand::Allow(options) => allow(options),
        StoreCommand::Close { options, state } => close(options, state),
        StoreCommand::Clear { options, all: false } => clear(options),
        StoreCommand::Clear { options, all: true } => remove(options),
    }
}

impl Options {
    fn open(&self) -> Result<Store, Failure> {
        // Check for a store first: without one, the key does not matter.
        Store::find(&self.folder).map_err(|e| store_failure(&e))?;
        let path = in_configuration(self.store_key.as_deref(), "store.key")?;
        let key = StoreKey::load(&path).map_err(|e| store_failure(&e))?;
        let mut store = Store::open(&self.folder, &key, &mut rand::rng()).map_err(|e| store_failure(&e))?;
        check_record(&mut store)?;
        Ok(store)
    }

    /// Prints a line, or the equivalent JSON object.
    fn tell(&self, text: &str, object: &impl Serialize) -> Result<(), Failure> {
        if self.json { print_json(object) } else { print(text) }
    }
}

fn init(options: &Options) -> Result<(), Failure> {
    let key = load_or_create_key(options.store_key.as_deref())?;
    let mut store = Store::create(&options.folder, &key, &mut rand::rng()).map_err(|e| store_failure(&e))?;
    check_record(&mut store)?;
    let text = format!("created store {} in {}\n", store.id(), options.folder.display());
    options.tell(&text, &Listed::of(&store))
}

fn list(options: &Options) -> Result<(), Failure> {
    let listed = Listed::of(&options.open()?);
    options.tell(&listed.text(), &listed)
}

fn verify(options: &Options, drop: bool) -> Result<(), Failure> {
    let mut store = options.open()?;
    let mut bar = ByteBar::new(!options.json, "read");
    let verified = store.verify(&mut |done, total| bar.advance(done, total)).map_err(|e| store_failure(&e))?;
    let mut dropped = 0;
    for damage in verified.damage.iter().filter(|_| drop) {
        dropped += store.drop_pieces(&damage.kind, &damage.ids).map_err(|e| store_failure(&e))?;
    }
    let report = Checked::of(&verified, dropped);
    options.tell(&report.text(), &report)?;
    match report.damaged - dropped {
        0 if report.odd_segments.is_empty() || drop => Ok(()),
        0 => Err(Failure::no_result(format!("segments of the store in {} were changed", options.folder.display()))
            .hint("all pieces are intact; `garblet store compact` rewrites the segments once pieces were used")),
        left => {
            let are = if left == 1 { "is" } else { "are" };
            let message = format!("{} of the store in {} {are} damaged", pieces(left), options.folder.display());
            Err(Failure::no_result(message)
                .hint("discard them with `garblet store verify --drop`; the rest can be used"))
        }
    }
}

fn close(options: &Options, state: &str) -> Result<(), Failure> {
    let mut store = options.open()?;
    let name = |notice: &Notice| match notice {
        Notice::Kept(SavedNames { name, state: Some(_), .. }) => Some(name.clone()),
        _ => None,
    };
    let notices = notices(&store);
    let Some(notice) = notices.iter().find(|notice| name(notice).as_deref() == Some(state)) else {
        let names: Vec<String> = notices.iter().filter_map(name).collect();
        let known = if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) };
        let message = format!("the store in {} has no state `{state}`", options.folder.display());
        return Err(Failure::call(message).hint(known));
    };
    settle(&mut store, notice).map_err(|e| explain(&e))?;
    options.tell(&format!("closed state {state}\n"), &serde_json::json!({ "closed": state }))
}

fn compact(options: &Options) -> Result<(), Failure> {
    let mut store = options.open()?;
    let mut bar = ByteBar::new(!options.json, "moved");
    let compacted = store.compact(&mut |done, total| bar.advance(done, total)).map_err(|e| store_failure(&e))?;
    let freed = compacted.bytes_before.saturating_sub(compacted.bytes_after);
    let mut text = format!("freed {}: {} left\n", bytes(freed), bytes(compacted.bytes_after));
    if compacted.damaged > 0 {
        text.push_str(&format!("discarded {}, which were damaged\n", pieces(compacted.damaged)));
    }
    options.tell(
        &text,
        &serde_json::json!({
            "bytes_before": compacted.bytes_before,
            "bytes_after": compacted.bytes_after,
            "damaged": compacted.damaged,
        }),
    )
}

fn allow(options: &Options) -> Result<(), Failure> {
    let mut store = options.open()?;
    let mut allowed = 0;
    for notice in notices(&store) {
        let (Notice::UnendedRuns(count) | Notice::UnfinishedOrders(count)) = notice else { continue };
        settle(&mut store, &notice).map_err(|e| explain(&e))?;
        allowed += count;
    }
    let what = if allowed == 1 { "order or run" } else { "orders and runs" };
    options.tell(&format!("allowed {allowed} unfinished {what}\n"), &serde_json::json!({ "allowed": allowed }))
}

fn clear(options: &Options) -> Result<(), Failure> {
    let dropped = options.open()?.clear().map_err(|e| store_failure(&e))?;
    options.tell(&format!("discarded {}\n", pieces(dropped)), &serde_json::json!({ "dropped": dropped }))
}

fn remove(options: &Options) -> Result<(), Failure> {
    Store::remove(&options.folder).map_err(|e| store_failure(&e))?;
    let text = format!("removed the store in {}\n", options.folder.display());
    options.tell(&text, &serde_json::json!({ "removed": true }))
}

/// The output of `list`.
#[derive(Serialize)]
struct Listed {
    store: String,
    binding: Option<garblet::store::Binding>,
    kinds: Vec<ListedKind>,
    /// Saved outputs in the store.
    kept: Vec<SavedNames>,
    /// Orders of gates that the peer left unfinished.
    unfinished_orders: u32,
    /// Set if the outcome of the last check of the peer is unknown.
    unsettled_check: bool,
    segments: usize,
    /// The size of all segments, including used and dropped pieces.
    segment_bytes: u64,
}

#[derive(Serialize)]
struct ListedKind {
    name: String,
    digest: String,
    /// The number of units per piece; amounts are in units, not in pieces.
    per_piece: u64,
    available: u64,
    consumed: u64,
    dropped: u64,
    /// The number of the next piece.
    next: u64,
    bytes: u64,
}

impl Listed {
    fn of(store: &Store) -> Self {
        let kind = |stock: Stock| {
            let per_piece = stock.kind.unit().1;
            ListedKind {
                name: named(store, &stock.kind),
                digest: stock.kind.digest().to_string(),
                per_piece,
                available: stock.available.len() * per_piece,
                consumed: stock.consumed * per_piece,
                dropped: stock.dropped * per_piece,
                next: stock.next.0,
                bytes: stock.bytes,
            }
        };
        let mut kinds: Vec<ListedKind> = store.stock().into_iter().map(kind).collect();
        kinds.sort_by(|a, b| (&a.name, &a.digest).cmp(&(&b.name, &b.digest)));
        let mut listed = Listed {
            store: store.id(),
            binding: store.binding().cloned(),
            kinds,
            kept: Vec::new(),
            unfinished_orders: 0,
            unsettled_check: false,
            segments: store.segment_count(),
            segment_bytes: store.segment_bytes(),
        };
        for notice in notices(store) {
            match notice {
                Notice::Kept(names) => listed.kept.push(names),
                // Each of the kept names has its own.
                Notice::UnendedRuns(_) => {}
                Notice::UnfinishedOrders(orders) => listed.unfinished_orders = orders,
                Notice::UnsettledCheck => listed.unsettled_check = true,
            }
        }
        listed
    }

    fn text(&self) -> String {
        let mut text = format!("store {}\n", self.store);
        if let Some(binding) = &self.binding {
            let fields = [
                ("peer", &binding.peer),
                ("role", &binding.role),
                ("protocol", &binding.protocol),
                ("library", &binding.library),
            ];
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
                text.push_str(&format!("{name} {value}\n"));
            }
        }
        let heads = ["kind", "available", "used", "lost", "size"].map(String::from).to_vec();
        let row = |kind: &ListedKind| {
            let name = format!("{} ({})", kind.name, kind.digest);
            vec![name, count(kind.available), count(kind.consumed), count(kind.dropped), bytes(kind.bytes)]
        };
        let rows: Vec<_> = std::iter::once(heads).chain(self.kinds.iter().map(row)).collect();
        match self.kinds.is_empty() {
            true => text.push_str("nothing is prepared\n"),
            false => text.push_str(&table(&rows)),
        }
        self.kept.iter().for_each(|kept| text.push_str(&kept_text(kept)));
        if self.unfinished_orders > 0 {
            text.push_str(&format!("the peer left {}\n", orders_text(self.unfinished_orders)));
        }
        if self.unsettled_check {
            text.push_str("the last check of the peer is not settled: the next meeting starts with it\n");
        }
        let segments = if self.segments == 1 { "segment" } else { "segments" };
        text.push_str(&format!("{} in {} {segments}\n", bytes(self.segment_bytes), self.segments));
        text
    }
}

/// A line about saved values.
fn kept_text(SavedNames { name, outputs, unended, state }: &SavedNames) -> String {
    let outputs = if outputs.is_empty() { "nothing".into() } else { outputs.join(", ") };
    let unended = match unended {
        0 => String::new(),
        1 => "; 1 run did not end".into(),
        runs => format!("; {runs} runs did not end"),
    };
    match state {
        None => format!("kept as {name}: {outputs}{unended}\n"),
        Some(SavedState { closed: true, version }) => format!("state {name}: closed for good at version {version}\n"),
        Some(SavedState { version, .. }) => format!("state {name}, version {version}: {outputs}{unended}\n"),
    }
}

/// A kind's name, with the program if the store knows it.
fn named(store: &Store, kind: &Kind) -> String {
    match program_of(store, kind) {
        Some(program) => format!("run of {program}"),
        None => kind.unit().0.into(),
    }
}

/// The output of `verify`.
#[derive(Serialize)]
struct Checked {
    sound: u64,
    damaged: u64,
    dropped: u64,
    damage: Vec<CheckedKind>,
    odd_segments: Vec<u64>,
}

#[derive(Serialize)]
struct CheckedKind {
    name: String,
    digest: String,
    pieces: String,
    what: String,
}

impl Checked {
    fn of(verified: &Verified, dropped: u64) -> Self {
        let damage = verified.damage.iter().map(|damage| CheckedKind {
            name: damage.kind.name().into(),
            digest: damage.kind.digest().to_string(),
            pieces: damage.ids.to_string(),
            what: damage.what.clone(),
        });
        Checked {
            sound: verified.sound,
            damaged: verified.damage.iter().map(|damage| damage.ids.len()).sum(),
            dropped,
            damage: damage.collect(),
            odd_segments: verified.odd_segments.clone(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("sound: {}\n", pieces(self.sound));
        for damage in &self.damage {
            text.push_str(&format!(
                "damaged: {} of {} ({}); {}\n",
                damage.pieces, damage.name, damage.digest, damage.what
            ));
        }
        for segment in &self.odd_segments {
            text.push_str(&format!("changed: the first bytes of segment {segment}\n"));
        }
        if self.dropped > 0 {
            text.push_str(&format!("discarded {}\n", pieces(self.dropped)));
        }
        text
    }
}

/// A number of unfinished orders of gates, in words.
pub(crate) fn orders_text(orders: u32) -> String {
    format!("{orders} unfinished order{} of gates", if orders == 1 { "" } else { "s" })
}

/// A number of pieces, in words.
fn pieces(number: u64) -> String {
    format!("{} piece{}", count(number), if number == 1 { "" } else { "s" })
}
