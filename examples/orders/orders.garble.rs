// The orders of two shops: what each customer has spent in both, who has spent most, and the median order.

struct Order {
    customer: u16,
    amount: u32,
}

struct Figures {
    customers: [(u16, u32); ..12],
    best: [(u32, u16); 3],
    median: u32,
}

pub fn main(ours: [Order; 6], theirs: [Order; 6]) -> Figures {
    let mut orders = [(0u16, 0u32); 12];
    let mut amounts = [0u32; 12];
    for k in 0usize..6usize {
        orders[k] = (ours[k].customer, ours[k].amount);
        orders[6usize + k] = (theirs[k].customer, theirs[k].amount);
        amounts[k] = ours[k].amount;
        amounts[6usize + k] = theirs[k].amount;
    }
    orders = sort(orders);
    amounts = sort(amounts);
    // Sums run along the orders of a customer, and are whole at the last of them.
    let mut sums = [(false, (0u16, 0u32)); 12];
    let mut ranked = [(0u32, 0u16); 12];
    let mut sum = 0u32;
    for k in 0usize..12usize {
        let (customer, amount) = orders[k];
        sum = if k > 0usize && orders[k - 1usize].0 == customer { sum + amount } else { amount };
        let last = k == 11usize || orders[k + 1usize].0 != customer;
        sums[k] = (last, (customer, sum));
        ranked[k] = if last { (sum, customer) } else { (0u32, 0u16) };
    }
    ranked = sort(ranked);
    Figures { customers: keep(sums), best: [ranked[11], ranked[10], ranked[9]], median: amounts[5] }
}
