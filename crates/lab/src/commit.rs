//! `garblet-lab commit`: XOR-homomorphic commitments, against bare stretching and transposition.

use std::time::{Duration, Instant};

use garblet_console::{failure::Failure, output};
use garblet_homcommit::{
    Code, CommitError, CommitReceiver, CommitSender, batch_opening_bytes, commit_bytes, opening_bytes,
};
use garblet_net::{Channel, memory_pair};
use garblet_ot::{CotReceiver, CotSender, RotReceiver, RotSender, Width};
use garblet_primitives::{Aes128, BLOCK_BITS, Block, Delta, Prg, transpose};
use serde_json::{Value, json};

use crate::{
    page::{Amount, Form, Key, Piece, Row, Section, Unit},
    published::{Paper, section},
};

/// The options of `garblet-lab commit`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Commitments per call
    #[arg(long, value_name = "N", default_value_t = 1 << 16, value_parser = clap::value_parser!(u32).range(128..=1 << 22))]
    commitments: u32,
    /// Repeat N times and report the fastest
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    repeat: u32,
    #[command(flatten)]
    form: Form,
}

/// One code's figures, in seconds per commitment of both sides' work on one thread.
struct Line {
    code: Code,
    setup: Duration,
    commit: f64,
    open_batch: f64,
    open: f64,
    bare: f64,
    bytes: f64,
    formula: f64,
}

/// Runs the benchmark.
///
/// *Errors*: standard output cannot be written.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|e| Failure::no_result(format!("the runtime cannot be started: {e}")))?;
    let mut lines = Vec::new();
    for code in Code::ALL {
        let line = runtime.block_on(measure(code, options.commitments as usize, options.repeat));
        lines.push(line.map_err(|e| Failure::no_result(format!("commit: {e}")))?);
    }
    let best = published_row(TEN_MILLION);
    let [commit, open] = ["commit", "open together"].map(|quantity| {
        let published = best.of(quantity).and_then(|figure| figure.published);
        published.map_or(0.0, |amount| (1e9 * amount.value).round())
    });
    let value = json!({
        "bench": "commit",
        "threads": 1,
        "commitments": options.commitments,
        "codes": lines.iter().map(Line::to_json).collect::<Vec<_>>(),
        "published": { "commit_ns": commit, "open_batch_ns": open, "threads": 200 },
    });
    let published = format!(
        "\npublished (NDSS 2017, Table III, 200 threads on two machines): commit {commit} ns, open {open} ns\n"
    );
    let table = rows(&lines);
    let text = output::table(&table) + &published;
    let pieces = vec![Piece::Table(table), Piece::Words(published)];
    options.form.give(&value, &text, Section { pieces, ..section(Paper::Lego, vec![paper_row(options, &lines)]) })
}

/// The number of commitments of the best published figures (Nielsen, Schneider and Trifiletti 2017, table III).
const TEN_MILLION: u32 = 10_000_000;

/// The paper's row for a number of commitments.
fn published_row(commitments: u32) -> Row {
    let of = |row: &Row| {
        row.experiment == "Table 3" && row.keys.first() == Some(&Key::number("commitments", commitments.into()))
    };
    let keys = vec![Key::number("commitments", commitments.into()), Key::named("published threads", "none")];
    Paper::Lego.rows().into_iter().find(of).unwrap_or_else(|| Row::new("Table 3", keys))
}

/// That row with ours: of the code that `lego` takes unless told otherwise.
fn paper_row(options: &Options, lines: &[Line]) -> Row {
    let mut row = published_row(options.commitments);
    if let Some(line) = lines.iter().find(|line| line.code == Code::default()) {
        let with_setup = line.commit + line.setup.as_secs_f64() / f64::from(options.commitments);
        row.measure("commit", Unit::Seconds, Amount::of(line.commit));
        row.measure("commit and base OTs", Unit::Seconds, Amount::of(with_setup));
        row.measure("open together", Unit::Seconds, Amount::of(line.open_batch));
        row.our_bound = Some(-40.0);
    }
    row
}

impl Line {
    fn to_json(&self) -> Value {
        json!({
            "code": [self.code.length(), 128],
            "setup_seconds": self.setup.as_secs_f64(),
            "commit_ns": 1e9 * self.commit,
            "bare_ns": 1e9 * self.bare,
            "open_batch_ns": 1e9 * self.open_batch,
            "open_ns": 1e9 * self.open,
            "bytes_per_commitment": self.bytes,
            "bytes_per_commitment_formula": self.formula,
            "bytes_per_opening": opening_bytes(self.code),
        })
    }
}

fn rows(lines: &[Line]) -> Vec<Vec<String>> {
    let head = ["code", "set-up", "commit", "of it bare", "bytes", "open together", "open alone", "bytes"];
    let nanoseconds = |seconds: f64| format!("{:.0} ns", 1e9 * seconds);
    let row = |line: &Line| {
        vec![
            format!("[{}, 128]", line.code.length()),
            output::seconds(line.setup.as_secs_f64()),
            nanoseconds(line.commit),
            nanoseconds(line.bare),
            format!("{:.2}", line.bytes),
            nanoseconds(line.open_batch),
            nanoseconds(line.open),
            opening_bytes(line.code).to_string(),
        ]
    };
    std::iter::once(head.map(String::from).to_vec()).chain(lines.iter().map(row)).collect()
}

async fn measure(code: Code, n: usize, repeat: u32) -> Result<Line, CommitError> {
    let (mut ours, mut theirs) = memory_pair();
    let mut rng = Prg::new(Block::ONES);
    let begin = Instant::now();
    let (mut sender, mut receiver) = set_up(code, [&mut ours, &mut theirs]).await?;
    let setup = begin.elapsed();
    let [mut commit, mut open_batch, mut open] = [Duration::MAX; 3];
    let before = ours.traffic();
    for _ in 0..repeat {
        let begin = Instant::now();
        let made = tokio::join!(sender.commit(&mut ours, n), receiver.commit(&mut theirs, &mut rng, n));
        let (committed, watched) = (made.0?, made.1?);
        commit = commit.min(begin.elapsed());
        let begin = Instant::now();
        let opened = tokio::join!(
            sender.open_batch(&mut ours, &committed),
            receiver.open_batch(&mut theirs, &mut rng, &watched)
        );
        opened.0?;
        opened.1?;
        open_batch = open_batch.min(begin.elapsed());
        let begin = Instant::now();
        let opened = tokio::join!(sender.open(&mut ours, &committed), receiver.open(&mut theirs, &watched));
        opened.0?;
        opened.1?;
        open = open.min(begin.elapsed());
    }
    let sent = (ours.traffic() - before).bytes_sent / u64::from(repeat);
    let opened = batch_opening_bytes(code, n as u64) + (n * opening_bytes(code)) as u64;
    let bare = (0..repeat).map(|_| bare(code, n)).min().unwrap_or_default();
    let each = |time: Duration| time.as_secs_f64() / n as f64;
    Ok(Line {
        code,
        setup,
        commit: each(commit),
        open_batch: each(open_batch),
        open: each(open),
        bare: each(bare),
        bytes: (sent - opened) as f64 / n as f64,
        formula: commit_bytes(code, n as u64) as f64 / n as f64,
    })
}

/// Random OTs, and commitments from them.
async fn set_up(code: Code, channels: [&mut Channel; 2]) -> Result<(CommitSender, CommitReceiver), CommitError> {
    let [ours, theirs] = channels;
    let (mut a, mut b) = (Prg::new(Block::ZERO), Prg::new(Block::ONES));
    let delta = Delta::random(&mut a);
    let n = code.length();
    let sender = async {
        let cot = CotSender::setup(ours, &mut a, &delta, Width::default()).await?;
        RotSender::new(cot).extend(ours, n).await.map_err(CommitError::from)
    };
    let receiver = async {
        let cot = CotReceiver::setup(theirs, &mut b, Width::default()).await?;
        RotReceiver::new(cot).extend(theirs, n).await.map_err(CommitError::from)
    };
    let (pairs, chosen) = tokio::join!(sender, receiver);
    let (choices, blocks) = chosen?;
    Ok((CommitSender::new(code, &pairs?)?, CommitReceiver::new(code, &choices, &blocks)?))
}

/// The time that cannot be saved: of three streams per bit of a word, and of the transposition of two words and a message.
fn bare(code: Code, n: usize) -> Duration {
    const SQUARES: usize = 28;
    let ciphers = Aes128::many(&vec![Block::ONES; 3 * code.length()]);
    let mut row = vec![Block::ZERO; SQUARES];
    let square = vec![1; 16 * BLOCK_BITS * SQUARES];
    let mut columns = vec![Block::ZERO; BLOCK_BITS * SQUARES];
    let begin = Instant::now();
    for _ in 0..n.div_ceil(BLOCK_BITS * SQUARES) {
        ciphers.iter().for_each(|cipher| cipher.keystream(0, std::hint::black_box(&mut row)));
        for _ in 0..(2 * code.length() + BLOCK_BITS).div_ceil(BLOCK_BITS) {
            transpose(std::hint::black_box(&square), &mut columns);
        }
    }
    begin.elapsed()
}
