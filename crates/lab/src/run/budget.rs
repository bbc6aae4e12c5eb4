//! How much may be fetched? `5%/week`, `2000/day`.

use std::fmt;
use std::str::FromStr;

use evercrawl_policy::Days;

const UNITS: [(&str, Days); 6] =
    [("week", 7.0), ("day", 1.0), ("hour", 1.0 / 24.0), ("w", 7.0), ("d", 1.0), ("h", 1.0 / 24.0)];

/// This many fetches per period, absolute or as a share of the live pages.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchBudget {
    text: String,
    /// Fetches per day; per page if it is a share.
    rate: f64,
    is_share: bool,
}

impl FetchBudget {
    /// The fetches that it allows in `time` while `live` pages live.
    pub fn over(&self, time: Days, live: usize) -> f64 {
        self.rate * time * if self.is_share { live as f64 } else { 1.0 }
    }

    /// The same many times over: for what more or less would buy.
    pub fn scaled(&self, factor: f64) -> Self {
        FetchBudget {
            text: format!("{}x {}", factor, self.text),
            rate: self.rate * factor,
            ..*self
        }
    }
}

impl FromStr for FetchBudget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no budget: write it as in 5%/week, 2000/day or 80/hour");
        let (amount, unit) = text.split_once('/').ok_or_else(wrong)?;
        let share = amount.trim().strip_suffix('%');
        let amount: f64 = share.unwrap_or(amount).trim().parse().map_err(|_| wrong())?;
        let unit = unit.trim();
        let period = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1;
        if !(amount > 0.0 && amount.is_finite()) {
            return Err(format!("a budget of `{text}` fetches nothing: give more than 0"));
        }
        let amount = if share.is_some() { amount / 100.0 } else { amount };
        Ok(FetchBudget {
            text: text.trim().to_owned(),
            rate: amount / period,
            is_share: share.is_some(),
        })
    }
}

impl fmt::Display for FetchBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_people_write_them() {
        for (text, fetches) in [
            ("5%/week", 10.0),
            ("5 % / w", 10.0),
            ("2000/day", 14_000.0),
            ("0.5/h", 84.0),
            ("100%/d", 1400.0),
        ] {
            let budget: FetchBudget = text.parse().unwrap();
            assert!((budget.over(7.0, 200) - fetches).abs() < 1e-9, "{text}");
            assert_eq!(budget.to_string(), text);
        }
        for bad in ["5%", "5", "/week", "0/day", "-1/day", "inf/day", "5%/fortnight", "x%/week", ""]
        {
            assert!(bad.parse::<FetchBudget>().is_err(), "{bad}");
        }
    }
}
