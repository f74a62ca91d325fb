//! The remedies for errors, in words that name no option of a front end.

use std::fmt;

/// Lists the remedies, each with its words.
macro_rules! advice {
    ($($(#[$doc:meta])* $name:ident $({ $($(#[$of:meta])* $field:ident: $type:ty),* })? => $words:literal;)*) => {
        /// A remedy for an error. Its text fits every front end; a front end uses its own words where it names an option, a command or a call.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Advice {
            $($(#[$doc])* $name $({ $($(#[$of])* $field: $type),* })?,)*
        }

        impl Advice {
            /// The names of all remedies.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// The name, for logs and comparisons.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Advice::$name { .. } => stringify!($name),)*
                }
            }
        }

        impl fmt::Display for Advice {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Advice::$name $({ $($field),* })? => write!(f, $words),)*
                }
            }
        }
    };
}

advice! {
    /// Give an address with a port.
    HostAndPort => "for instance 127.0.0.1:7000, or port 0 for any free port";
    /// Give an address for this port.
    HostOfPort {
        /// The port.
        port: u16
    } => "for instance 0.0.0.0:{port} to listen on every interface, 127.0.0.1:{port} for this machine only";
    /// Listen at another port.
    OtherPort => "another run may not have ended yet; choose another port, or port 0 for any free one";
    /// Start the peer that was to be called.
    ReachPeer => "start the peer, and check the address and any firewall in between; the listening side may start later";
    /// Start the peer that was to call.
    AwaitPeer => "start the peer with our address";
    /// Start the peer that was to call, unless it was refused.
    AwaitPeerOrRefused => "start the peer with our address; if it is among the refused, the refusal says why";
    /// Start the parties that are missing.
    StartMissing => "start the missing parties, and check the addresses in the peers file and any firewall in between";
    /// Trust the peer, if it is the one that was meant.
    TrustPeer {
        /// The peer's fingerprint.
        fingerprint: String
    } => "if the peer itself confirms this fingerprint over another channel, trust it: {fingerprint}";
    /// Get the peer to trust this party.
    BeTrusted {
        /// This party's fingerprint.
        fingerprint: String
    } => "read it to the peer over another channel, so that the peer trusts it: {fingerprint}";
    /// Give all parties the same peers file.
    SamePeersFile => "compare the fingerprints of the peers files: give all parties the same file, and each its own identity";
    /// Give all parties of a session its name.
    SameSession => "give all parties the same session name";
    /// Give both parties the same job.
    SameJob => "run under the same job";
    /// Give both parties the same settings.
    SameRun => "give both parties the same version, program, protocol and parameters, and each its own party number";
    /// Run the gates of a circuit file as they are on both sides, or on neither.
    SameGates => "run the circuit file's own gates on both sides, or on neither";
    /// Order the same amounts for the stores of all parties.
    SameAmounts => "order the same amounts for the stores of all parties, to be filled below the same percentage of them";
    /// Update the party with the older version.
    SameWire => "update Garblet where the number is lower: both parties need the same wire version";
    /// Use TLS at both ends, or at none.
    SameTls => "use TLS on both sides, or on neither";
    /// Give every party another number.
    OwnNumbers => "give each party a number of its own, and start each once";

    /// Use identities where plain TCP does not protect.
    UseIdentities => "give this party an identity, and name the peers that it trusts";
    /// Use this party's own number and identity.
    RightIdentity => "check the party's number and its identity, or correct the peers file";
    /// Give all parties their fingerprints in the peers file.
    PinParties => "give every party its fingerprint; on one machine, plain TCP does without";
    /// Trust a peer.
    TrustSomebody => "give the peer's fingerprint, as the peer reads it to you";
    /// Choose the peer to wait for.
    AwaitOne => "choose which of them to wait for";
    /// Choose the peer of a store.
    ChoosePeer => "choose which of them the store is for";

    /// Look for another program at the peer's address.
    OtherProgram => "the peer is another program, or does not follow the protocol: check what is at its address";
    /// Keep the message: it tells of a check that failed.
    KeepEvidence => "the peer's program did not follow the protocol; no network failure causes this, so keep the message";
    /// Find out which of several parties a failed check is about.
    CompareReports => "the check does not tell which party it was: keep the message, and compare what all parties report";
    /// Look for an attacker in between.
    ChangedOnTheWay => "somebody in between changes the traffic; none of it was used";
    /// Look for a peer that does nothing.
    SilentPeer => "the peer may be stopped, overloaded, or cut off";
    /// Wait longer for a peer that stalls now and then.
    SlowPeer => "the peer, or the link to it, is too slow; if it only stalls now and then, raise the time-out";
    /// Look at the peer's messages.
    PeersMessages => "look at the peer's own messages";
    /// Look at the messages of a party of several.
    MessagesOf {
        /// The party.
        party: u16
    } => "look at the messages of party {party} and of those that blame it";
    /// Look at the messages of the party that accuses this one.
    MessagesOfAccuser => "look at the messages of the party that reports this";
    /// Leave a peer that repeatedly disappears when it has to show that it has not cheated.
    LeaveSuspect => "if it happens again, do not run with this peer";
    /// Ask the party that every refusal names.
    AskWhoIsNamed => "nobody has learned anything, so all can run it again; ask the party that every refusal names";
    /// Give the servers nothing until one of them has explained itself.
    ServersMayHaveResults => "the servers have computed and may have results: give them nothing more until they know which of them is at fault";

    /// Call a service again later.
    TryLater => "nothing was computed, and no run was counted: try again later";
    /// Call a service again once it is back.
    TryWhenBack => "nothing was computed: try again when it is back";
    /// Name the job that a service has.
    NameJob => "name the job that both sides have; its operator decides who may run it";
    /// Ask the operator of a service for more runs.
    AskForMore => "its operator limits the runs: ask for more, or wait if more are allowed later";
    /// Let the operator of a service look for inputs.
    OperatorHasNoData => "its operator's log says what is missing";
    /// Give a session a name that no other has.
    OwnSessionName => "give every session a name of its own";
    /// Name the session.
    NameSession => "give the session a name, the same for all parties and new each time";
    /// Tell the operator of a service.
    TellOperator => "tell its operator, whose log says what is wrong";

    /// Fill the stores.
    FillStores => "fill the stores together, or let the run make what they lack";
    /// Add a component to the library file.
    AddToLibrary => "add it to the library file; a store is filled for one library";
    /// Start all parties again.
    StartAnew => "no input was revealed; one party's program has lost or skipped a run, so restart all parties together";
    /// Begin another session.
    NewSession => "start another session, all parties together";
    /// Give other inputs.
    OtherInputs => "the outputs mean nothing: give other inputs, or use wider types";

    /// Make the store.
    MakeStore {
        /// The folder.
        folder: String
    } => "make one in {folder}";
    /// Make the store in another folder.
    NewFolder => "name a new folder, or an empty one";
    /// Wait for the process that has the store.
    OwnStore => "wait until it is done, or give each process a store of its own";
    /// Keep others from a file.
    KeepFromOthers {
        /// The file or folder.
        path: String,
        /// The permission bits that it is to have.
        mode: u32
    } => "chmod {mode:03o} {path}";
    /// Find the key of the store.
    FindKey => "a store can be opened only with the key that it was made with";
    /// Give the key of the store.
    RightKey => "give the key file that the store was made with";
    /// Use a version that reads the store.
    RightVersion => "use the version of Garblet that made the store, or a later one";
    /// Give the store of this peer and protocol.
    RightStore => "give the right store, or a new folder to prepare again";
    /// Give the stores that belong together.
    StoresTogether => "name the two stores that were filled together, or let both parties create new ones";
    /// Create new stores, as one was restored from a backup.
    NewStores => "never restore a store from a backup, since its pieces could be used twice: let both parties create new stores";
    /// Create new stores if this one was restored, which the peer says.
    NewStoresIfRestored => "the other party reports this: never restore a store from a backup, since its pieces could be used twice. If this one was restored, let \
         both parties create new stores, and servers that answer clients also a new service value; if not, ask the other party";
    /// Create new stores, or forget the record of a store that was never copied.
    ForgetRecord {
        /// The file of the record.
        record: String
    } => "pieces could be used twice: let both parties create new stores; only if no copy of the store was ever used, as when it was \
         moved to another machine and back, remove {record}";
    /// Remove a store that was given up.
    RemoveGivenUp => "to start again with that peer, remove the store";
    /// Remove a store that could not be given up.
    RemoveStore => "remove the store before anything else is done with it, and keep the message";
    /// Remove the copy of a store.
    RemoveCopy => "a store must exist only once: remove the copy";
    /// Find out how much of the store is damaged.
    VerifyStore => "check which pieces are lost; if the index itself is damaged, let both parties create new stores";
    /// Put a file of the store where a link to it is.
    ReplaceLink => "if you made this link, put what it leads to in its place; if not, do not use the store";
    /// Make room on disk.
    MakeRoom => "a run puts there what does not fit in memory: set TMPDIR to a folder with room for it";
    /// Open the store again.
    OpenAgain => "open the store again: only what is on disk counts";
    /// Open the store in this process.
    OpenInProcess => "open the store in the process that uses it";
    /// Allow more, if the peer did not cheat.
    AllowUnfinished {
        /// The folder of the store.
        folder: String
    } => "a cheating peer does this; if it was the network or this machine, allow more for the store in {folder}";
    /// Meet the peer again with the same stores.
    SettleCheck => "meet the peer with the stores that made these triples; if one of them is lost, all parties remove theirs and start again";

    /// Keep a state before it is read.
    KeepState => "a run that keeps outputs makes one";
    /// Keep another state.
    OtherState => "keep another under a new name";
    /// Allow more runs of a state.
    AllowRuns => "find out why they did not end; then on each side stop what uses the store and allow more; or keep another value under a new name";
    /// Use the version that made the state.
    RightVersionOfState => "use the version of Garblet that made it";
    /// Deal nothing to servers that were rolled back.
    DealNothing => "both servers were rolled back, or lie: deal nothing to them until they have explained it";
    /// Drop a state that only one server has.
    DropState => "drop the state at both servers, and begin with another";
    /// Find out which server was rolled back.
    FindServer => "find out which server was rolled back, or lies, before another state is made";
    /// Keep fewer outputs.
    KeepLess => "keep a result with fewer bits, or let several programs keep a part each, under their own names";
    /// Prepare once the value to be read is kept.
    PrepareAfter => "nothing was computed: prepare this run only after the run whose result it reads has ended";
    /// Prepare for the current version.
    PrepareAgain => "another run was faster: prepare and run again";

    /// Use the existing identity.
    UseIdentity => "use it, or move it away first: peers know it by its fingerprint";
    /// Make an identity.
    MakeIdentity => "make one";
    /// Name the file of an identity.
    NameIdentity => "name the file of an identity; if it is lost, make another and tell peers";
    /// Correct the form of the peers file.
    PeersFileForm => "one table per party, in order: [[party]] with address = \"HOST:PORT\" and fingerprint = \"...\"";
    /// Update this party.
    Update => "a later version wrote it: update Garblet";
    /// Correct a fingerprint in the peers file.
    PrintFingerprint => "ask the party for its fingerprint";
    /// Give each party its own address in the peers file.
    OwnAddresses => "each party listens on an address of its own";
    /// Give each party its own identity in the peers file.
    OwnIdentities => "each party has an identity of its own";
    /// Give all fingerprints in the peers file, or none.
    AllFingerprints => "give every party its fingerprint; or none, for plain TCP";
}
