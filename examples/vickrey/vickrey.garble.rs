// A sealed-bid auction over two houses: the highest bidder wins and pays the second highest bid.

struct Bid {
    bidder: u16,
    amount: u32,
}

struct Standing {
    winner: u16,
    highest: u32,
    second: u32,
}

struct Outcome {
    winner: u16,
    price: u32,
}

fn consider(standing: Standing, bid: Bid) -> Standing {
    let Standing { winner, highest, second } = standing;
    if bid.amount > highest {
        Standing { winner: bid.bidder, highest: bid.amount, second: highest }
    } else {
        let second = if bid.amount > second { bid.amount } else { second };
        Standing { winner: winner, highest: highest, second: second }
    }
}

pub fn main(first_house: [Bid; 6], second_house: [Bid; 4]) -> Outcome {
    let mut standing = Standing { winner: 0u16, highest: 0u32, second: 0u32 };
    for bid in first_house {
        standing = consider(standing, bid);
    }
    for bid in second_house {
        standing = consider(standing, bid);
    }
    Outcome { winner: standing.winner, price: standing.second }
}
