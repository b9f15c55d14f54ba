//! The instants of cron expressions against an independent oracle, `oracle.py`: Python's zoneinfo and a naive expansion.

use std::io::Write;
use std::process::{Command, Stdio};

use ganger_core::Wall;
use ganger_core::schedule::cron::Cron;
use ganger_core::schedule::zone::Zone;

const DAY: i64 = 86_400;

/// Days around which clocks change, or do not: a zone, the first day, and how many.
const WINDOWS: [(&str, &str, i64); 18] = [
    ("Europe/Berlin", "2026-03-28", 3),
    ("Europe/Berlin", "2026-10-24", 3),
    ("America/New_York", "2025-03-08", 3),
    ("America/New_York", "2025-11-01", 3),
    ("Australia/Lord_Howe", "2025-04-05", 3),
    ("Australia/Lord_Howe", "2025-10-04", 3),
    ("America/Sao_Paulo", "2018-02-16", 4),
    ("America/Sao_Paulo", "2018-11-02", 4),
    ("America/Santiago", "2025-09-05", 4),
    ("Asia/Kathmandu", "1985-12-31", 3),
    ("Asia/Kathmandu", "2026-05-30", 3),
    ("Pacific/Apia", "2011-12-28", 5),
    ("Africa/Cairo", "2024-04-25", 3),
    ("Asia/Tehran", "2022-03-20", 4),
    ("Europe/London", "2025-10-25", 3),
    ("Africa/Casablanca", "2025-02-22", 3),
    ("America/St_Johns", "2011-03-12", 3),
    ("UTC", "2028-02-28", 3),
];

/// Expressions that are tried in every window.
const WELL_KNOWN: [&str; 20] = [
    "30 2 * * *",
    "30 1 * * *",
    "0 0 * * *",
    "59 23 * * *",
    "0,15,30,45 0-3 * * *",
    "*/30 * * * *",
    "0 */2 * * *",
    "*/10 2 * * *",
    "15 2 * * *",
    "0 12 L * *",
    "0 3 * * SUN",
    "0 3 * * 0L",
    "0 3 * * SAT#4",
    "10,40 30 1 * * *",
    "*/20 */7 1-2 * * *",
    "@hourly",
    "@daily",
    "0 1 29 2 *",
    "7-59/13 0-23/5 * * *",
    "0 0 1-7 * MON",
];

/// A small generator: the same cases every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn field(&mut self, low: u64, high: u64) -> String {
        let span = high - low + 1;
        let a = low + self.below(span);
        let b = a + self.below(high - a + 1);
        let step = 1 + self.below(span.min(20) - 1);
        match self.below(7) {
            0 => "*".into(),
            1 => format!("*/{step}"),
            2 => format!("{a}-{b}"),
            3 => format!("{a}-{b}/{step}"),
            4 => format!("{a},{b}"),
            5 => format!("{a}/{step}"),
            _ => format!("{a}"),
        }
    }

    fn expression(&mut self) -> String {
        let second = if self.below(4) == 0 { format!("{} ", self.below(60)) } else { String::new() };
        let (minute, hour) = (self.field(0, 59), self.field(0, 23));
        let day = match self.below(6) {
            0 => self.field(1, 31),
            1 => "L".into(),
            _ => "*".into(),
        };
        let names = ["SUN", "mon", "Tue", "WED", "THU", "FRI", "SAT"];
        let weekday = match self.below(8) {
            0 => self.field(0, 6),
            1 => format!("{}#{}", self.below(8), 1 + self.below(5)),
            2 => format!("{}L", self.below(8)),
            3 => names[self.below(7) as usize].into(),
            4 => "FRI-SUN".into(),
            _ => "*".into(),
        };
        format!("{second}{minute} {hour} {day} * {weekday}")
    }
}

struct Case {
    cron: String,
    zone: &'static str,
    from: i64,
    until: i64,
}

fn start(day: &str) -> i64 {
    format!("{day}T00:00:00Z").parse::<Wall>().unwrap().0 / 1_000_000
}

fn cases() -> Vec<Case> {
    let (mut dice, mut cases) = (Dice(2026), Vec::new());
    for (zone, day, days) in WINDOWS {
        let from = start(day) - DAY / 2;
        let random: Vec<String> = (0..40).map(|_| dice.expression()).collect();
        for cron in WELL_KNOWN.iter().map(|text| (*text).to_owned()).chain(random) {
            cases.push(Case { cron, zone, from, until: from + days * DAY + DAY });
        }
    }
    // Years: leap days, ends of months, weekdays of a month.
    for cron in ["0 2 29 2 *", "30 2 L * *", "0 0 31 * *", "0 4 * 2,3 SUN#5", "0 4 * * 5L", "30 2 * 3,10 SUN"]
    {
        for zone in ["Europe/Berlin", "America/New_York", "Pacific/Apia"] {
            let (from, until) = (start("2003-06-01"), start("2013-06-01"));
            cases.push(Case { cron: cron.into(), zone, from, until });
        }
    }
    cases
}

fn ask_oracle(cases: &[Case]) -> Vec<Vec<i64>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schedules/oracle.py");
    let mut python = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is on the path");
    let mut input = String::new();
    for Case { cron, zone, from, until } in cases {
        let line = serde_json::json!({ "cron": cron, "zone": zone, "from": from, "until": until });
        input.push_str(&format!("{line}\n"));
    }
    let mut pipe = python.stdin.take().unwrap();
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the oracle failed");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ours(case: &Case) -> Vec<i64> {
    let cron = Cron::parse(&case.cron).unwrap_or_else(|error| panic!("{}: {error}", case.cron));
    let zone = Zone::find(case.zone).unwrap();
    let (mut at, mut found) = (Wall(case.from * 1_000_000), Vec::new());
    while let Some(next) = zone.next(&cron, at).filter(|next| next.0 <= case.until * 1_000_000) {
        assert!(next > at, "{} in {} goes from {at} to {next}", case.cron, case.zone);
        found.push(next.0 / 1_000_000);
        at = next;
    }
    found
}

#[test]
fn instants_are_those_of_an_independent_oracle() {
    let cases = cases();
    let expected = ask_oracle(&cases);
    assert_eq!(expected.len(), cases.len());
    let mut instants = 0;
    for (case, expected) in cases.iter().zip(&expected) {
        assert_eq!(
            &ours(case),
            expected,
            "{} in {} from {}",
            case.cron,
            case.zone,
            Wall(case.from * 1_000_000)
        );
        instants += expected.len();
    }
    println!("{} cases, {instants} instants", cases.len());
    assert!(instants > 20_000, "only {instants} instants were compared");
}

/// The promise of fixed times: once per local day, whatever the clocks do.
#[test]
fn a_fixed_time_fires_once_per_local_day() {
    for zone in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"] {
        for hour in 0..24 {
            let case = Case {
                cron: format!("30 {hour} * * *"),
                zone,
                from: start("2025-01-01"),
                until: start("2026-01-01"),
            };
            let found = ours(&case);
            assert_eq!(found.len(), 365, "{} in {zone}", case.cron);
            assert!(found.windows(2).all(|pair| (pair[1] - pair[0] - DAY).abs() <= 3_600), "{}", case.cron);
        }
    }
}
