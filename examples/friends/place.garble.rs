// Puts a friend on the map where it says that it is, and nowhere else: all of its plane is written anew.

const WIDTH: usize = PARTY_0::WIDTH;
const HEIGHT: usize = PARTY_0::HEIGHT;
const FRIENDS: usize = PARTY_0::FRIENDS;
const ME: usize = PARTY_0::ME;

// Who is not there is nowhere, whatever the numbers say.
struct Spot {
    there: bool,
    x: u8,
    y: u8,
}

struct Town {
    map: [[[bool; WIDTH]; HEIGHT]; FRIENDS],
}

// The plane in which one cell is set. It begins in the corner; each bit of the spot moves it, so that each cell costs an AND gate but
// the first. No bit moves it over the edge.
fn plane(spot: Spot) -> [[bool; WIDTH]; HEIGHT] {
    let mut cells = [[false; WIDTH]; HEIGHT];
    cells[0][0] = spot.there;
    for level in 0usize..8usize {
        let step = 1usize << (7u8 - (level as u8));
        let bit = (spot.x & (step as u8)) != 0u8;
        for x in 0usize..WIDTH {
            if x % (step + step) == 0usize && x + step < WIDTH {
                let moved = cells[0][x] & bit;
                cells[0][x] = cells[0][x] ^ moved;
                cells[0][x + step] = moved;
            }
        }
    }
    for level in 0usize..8usize {
        let step = 1usize << (7u8 - (level as u8));
        let bit = (spot.y & (step as u8)) != 0u8;
        for y in 0usize..HEIGHT {
            if y % (step + step) == 0usize && y + step < HEIGHT {
                for x in 0usize..WIDTH {
                    let moved = cells[y][x] & bit;
                    cells[y][x] = cells[y][x] ^ moved;
                    cells[y + step][x] = moved;
                }
            }
        }
    }
    cells
}

pub fn main(map: [[[bool; WIDTH]; HEIGHT]; FRIENDS], spot: Spot) -> Town {
    let mut town = Town { map: map };
    town.map[ME] = plane(spot);
    town
}
