//! Parses and writes points in time. The core has no clock: hosts pass the time. Does not handle time zones.

use alloc::format;
use alloc::string::String;

pub const DAY: i64 = 86_400;

/// Converts a date and a time of day to seconds since 1970 in UTC; `None` if the date does not exist.
#[must_use]
pub fn from_civil(year: i64, month: i64, day: i64, seconds: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) || !(0..=9999).contains(&year) || !(0..=DAY).contains(&seconds) {
        return None;
    }
    // Years start in March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (month * 153 + 2) / 5 + day - 1;
    Some((days - DAYS_TO_1970) * DAY + seconds)
}

/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

/// Parses `2026-11-21` or `2026-11-21T15:30:00Z`.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' ']).map_or((text, None), |(date, time)| (date, Some(time)));
    let [year, month, day] = fields(date, '-')?;
    let seconds = match time {
        None => 0,
        Some(time) => {
            let time = time.strip_suffix(['Z', 'z'])?;
            let [hours, minutes, seconds] = fields(time, ':')?;
            of_day(hours, minutes, seconds)?
        }
    };
    from_civil(year, month, day, seconds)
}

/// Converts a time of day to seconds since midnight.
#[must_use]
pub fn of_day(hours: i64, minutes: i64, seconds: i64) -> Option<i64> {
    let fits = (0..24).contains(&hours) && (0..60).contains(&minutes) && (0..=60).contains(&seconds);
    fits.then_some(hours * 3600 + minutes * 60 + seconds)
}

fn fields(text: &str, separator: char) -> Option<[i64; 3]> {
    let number = |text: &str| if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None };
    let mut parts = text.split(separator).map(number);
    let all = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(all)
}

/// Formats the date of a time, as `2026-11-21`.
#[must_use]
pub fn date(seconds: i64) -> String {
    let days = seconds.div_euclid(DAY).saturating_add(DAYS_TO_1970);
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year_of_era + next)
}

#[cfg(test)]
mod tests {
    use super::{DAY, date, parse};

    #[test]
    fn a_date_means_its_midnight() {
        assert_eq!(parse("1970-01-01"), Some(0));
        assert_eq!(parse("2026-11-21"), Some(1_795_219_200));
        assert_eq!(parse("2026-11-21T15:30:01Z"), Some(1_795_219_200 + 15 * 3600 + 30 * 60 + 1));
    }

    #[test]
    fn invalid_times_are_refused() {
        for text in ["", "2026", "2026-13-01", "2026-02-29", "2026-11-21T15:30", "2026-11-21T24:00:00Z", "x-y-z", "2026-11-21-1", "2026-11-+1"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(parse("2024-02-29").is_some(), "a leap year");
    }

    #[test]
    fn dates_round_trip() {
        for day in (-200_000..2_000_000).step_by(97).map(|day| day * DAY) {
            let written = date(day);
            if written.len() == 10 {
                assert_eq!(parse(&written), Some(day), "{written}");
            }
        }
    }
}
