// A buyer's offer against a seller's lowest price: the price between the two, if there is one.

pub struct Deal { agreed: bool, price: u32 }

pub fn main(offer: u32, lowest: u32) -> Deal {
    if offer < lowest {
        Deal { agreed: false, price: 0u32 }
    } else {
        Deal { agreed: true, price: (offer + lowest) / 2u32 }
    }
}
