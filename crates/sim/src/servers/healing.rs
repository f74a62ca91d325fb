//! The way back to work after all trouble, and old faults between meetings.

use super::*;

/// The meetings after the last trouble, with the remedies between them, until a client is answered.
const MEETINGS_TO_HEAL: usize = 8;

impl World {
    /// Lets a client come without trouble until it is answered, following the hints of errors in between.
    pub(super) async fn heal(&mut self) -> Step {
        self.say("all trouble ends".into());
        self.keepers.iter_mut().for_each(Keeper::stop);
        for _ in 0..MEETINGS_TO_HEAL {
            let is_old = self.clients[0].submission.is_some();
            if !is_old {
                let begins = self.clients[0].version == 0 && self.ledger.balances().iter().all(|(at, _)| *at == 0);
                let (function, version) =
                    if begins { (Function::Start, 0) } else { (Function::Show, self.clients[0].version.max(1)) };
                self.deal(0, Deal { function, first: 100, amount: 1, version });
            }
            let comer = self.comer(0, [true; 2], Some(PATIENCE[1]), 0);
            let past = match self.meet(&[comer], &Troubles::default()).await? {
                Ok(past) => past,
                Err(finding) => return Ok(Err(finding)),
            };
            if past.answered.contains(&0) && !is_old {
                return self.check_stores();
            }
            found!(self.follow_hints(&past)?);
            found!(self.check_stores()?);
        }
        let text = format!("no client is answered within {MEETINGS_TO_HEAL} meetings, whatever hints are followed");
        Ok(Err(Finding::new("liveness", text)))
    }

    /// After a meeting without trouble: the operators follow its hints.
    pub(super) fn follow_hints(&mut self, past: &Past) -> Step {
        let errors: Vec<&ProtocolError> = past.errors.iter().collect();
        let remedy = match (past.is_closed || past.reasons.contains(&Reason::StateClosed), &errors[..]) {
            (true, _) => Remedy::NewStores,
            (false, []) if past.reasons.contains(&Reason::Unended) => Remedy::Allow,
            (false, []) => Remedy::Again,
            (false, errors) => match remedy::of_all(errors) {
                Ok(remedy) => remedy,
                Err(finding) => return Ok(Err(finding)),
            },
        };
        self.say(format!("  the operators follow the hint: {remedy:?}"));
        match remedy {
            Remedy::Allow => self.allow(),
            Remedy::NewStores if !self.ledger.excused => {
                Ok(Err(Finding::new("loss", "the state is lost though none of the stores was put back")))
            }
            Remedy::NewStores => self.begin_anew().map(Ok),
            Remedy::Again if errors.is_empty() && past.is_silent => {
                Ok(Err(Finding::new("silence", "a client that waited is not answered, and nobody says why")))
            }
            _ => Ok(Ok(())),
        }
    }

    /// Both servers begin anew, with new stores and another service value.
    fn begin_anew(&mut self) -> io::Result<()> {
        self.services += 1;
        self.say(format!("service {} begins", self.services));
        for (keeper, former) in self.keepers.iter_mut().zip(&mut self.former_copies) {
            keeper.stop();
            keeper.disk().remove()?;
            *former = keeper.disk().copies();
        }
        self.agreement = agreement(self.services, self.terms).expect("as before");
        self.clients = (0..CLIENTS.len()).map(|client| Client::new(&self.agreement, client)).collect();
        (self.ledger, self.is_put_back) = (Ledger::new(self.terms.retries), false);
        Ok(())
    }

    /// Lets the servers behave as those of an earlier version.
    pub(super) fn put_faults_back(&mut self, before: [Option<u64>; 2], gone: [bool; 2]) -> io::Result<()> {
        let now = self.versions()?;
        for server in 0..2 {
            let has_advanced = now[server] > before[server];
            if self.bug == Some(Bug::LosesWrites) && gone[server] {
                self.keepers[server].disk().forget_since()?;
            }
            match self.bug {
                Some(Bug::ForgetsCounts) => {}
                Some(Bug::CountsByVersion) if has_advanced => {}
                _ => continue,
            }
            if let Ok(mut store) = self.open(server) {
                settle(&mut store, server).map_err(|finding| io::Error::other(finding.text))?;
            }
        }
        Ok(())
    }
}
