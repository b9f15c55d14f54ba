//! Whole screens, as a terminal of that size would have them.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;

use ganger_server::api::VerdictBody;

use super::draw;
use crate::command::top::fetch::Fetch;
use crate::command::top::fixture::{at, denied, model, press};
use crate::command::top::model::{Link, Model};
use crate::command::top::theme::Theme;
use crate::command::top::update::{Message, update};

fn buffer(model: &Model) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(model.size.0, model.size.1)).expect("a terminal");
    terminal.draw(|frame| draw(model, frame)).expect("it draws");
    terminal.backend().buffer().clone()
}

fn screen(model: &Model) -> Vec<String> {
    let buffer = buffer(model);
    let row = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..buffer.area.height).map(|y| row(y).trim_end().to_owned()).collect()
}

#[test]
fn eighty_by_twenty_four_has_everything_that_matters() {
    let screen = screen(&model(80, 24));
    assert_eq!(screen.len(), 24);
    assert!(screen[0].contains("backlog 4,430") && screen[0].ends_with("● live"), "{}", screen[0]);
    assert!(screen[1].contains("1 Queues") && screen[1].contains("6 Operations"), "{}", screen[1]);
    for title in ["QUEUE", "STATE", "READY", "RUN/THREADS", "RETRY", "DEAD", "OLDEST"] {
        assert!(screen[2].contains(title), "{title} is not in {}", screen[2]);
    }
    assert!(screen[3].starts_with("▸mail"), "{}", screen[3]);
    for cell in ["○ open", "4,120", "4/4", "14", "4m12s▲"] {
        assert!(screen[3].contains(cell), "{cell} is not in {}", screen[3]);
    }
    assert!(screen[4].contains("media") && screen[4].contains("‖ paused"), "{}", screen[4]);
    assert!(screen[19].starts_with("── mail ─"), "{}", screen[19]);
    assert!(screen[23].contains("P pause/resume"), "{}", screen[23]);
}

#[test]
fn what_is_wrong_is_told_above_the_keys() {
    let mut model = model(80, 24);
    let well = screen(&model);
    let mut stats = model.data.stats.clone().unwrap_or_default();
    let text = "mail fails every attempt (50 of 50), for 35 m 0 s: no such host".to_owned();
    stats.verdict = Some(VerdictBody { severity: "bad".into(), text: text.clone(), findings: Vec::new() });
    model.data.stats = Some(stats);
    let told = screen(&model);
    assert!(told[22].contains(&text), "{}", told[22]);
    assert_eq!(told[23], well[23]);
    assert!(told[18].starts_with("── mail ─"), "{}", told[18]);
    // On a small screen the rows matter more.
    model.size = (80, 12);
    assert!(!screen(&model).join("\n").contains("no such host"));
}

#[test]
fn more_room_shows_more() {
    let narrow = screen(&model(80, 24));
    let wide = screen(&model(120, 40));
    for title in ["FAIL%", "TREND 10m", "IN/s", "OUT/s"] {
        assert!(wide[2].contains(title), "{title} is not in {}", wide[2]);
    }
    assert!(!narrow[2].contains("TREND"), "{}", narrow[2]);
    assert_eq!(wide.len(), 40);
    assert!(wide[0].contains("ganger top") && wide[0].contains("127.0.0.1:8080"), "{}", wide[0]);
}

#[test]
fn every_view_and_the_help_fit_in_any_size() {
    for (width, height) in [(80, 24), (120, 40), (40, 8), (10, 3), (1, 1), (250, 70)] {
        for keys in ["1", "2", "3", "4", "5", "6", "?", "2\n", "2e", "2l", "/x", ":job", "P"] {
            let mut model = model(width, height);
            press(&mut model, keys);
            assert_eq!(screen(&model).len(), usize::from(height), "{keys} at {width}x{height}");
        }
    }
}

#[test]
fn each_view_shows_its_rows() {
    for (key, expected) in [
        ("2", "TimeoutError: smtp [2J.example.com"),
        ("3", "9f86d081884c7d65"),
        ("4", "● busy"),
        ("5", "30 2 * * *"),
        ("6", "no operation is remembered"),
    ] {
        let mut model = model(120, 40);
        press(&mut model, key);
        let text = screen(&model).join("\n");
        assert!(text.contains(expected), "{key}: {expected} is not in\n{text}");
        assert!(!text.contains('\u{1b}'), "nothing steers the terminal");
    }
}

#[test]
fn a_server_that_is_away_is_told_and_what_is_shown_is_not_live() {
    let mut model = model(80, 24);
    let broken = || Link::Broken { since: std::time::Duration::ZERO, why: "connection refused".into() };
    update(&mut model, Message::Linked(broken()));
    at(&mut model, 1.5);
    assert!(screen(&model)[0].ends_with("reconnecting"), "{}", screen(&model)[0]);
    at(&mut model, 6.0);
    update(&mut model, Message::Linked(broken()));
    let away = screen(&model);
    assert!(away[0].ends_with("✗ offline") && away[0].contains("as of 14:02:12"), "{}", away[0]);
    assert!(away[23].contains("connection refused"), "{}", away[23]);
    update(&mut model, Message::Linked(Link::Open));
    assert!(screen(&model)[0].ends_with("● live"), "{}", screen(&model)[0]);
    at(&mut model, 30.0);
    assert!(screen(&model)[0].ends_with("stale"), "open, but nothing was heard: {}", screen(&model)[0]);
}

#[test]
fn a_refusal_is_shown_in_its_own_words() {
    let mut model =
        Model::new("http://127.0.0.1:8080".into(), false, Theme::new(true, true), jiff::tz::TimeZone::UTC);
    update(&mut model, Message::Linked(Link::Refused("a token is needed".into())));
    update(&mut model, Message::Fetched(Fetch::Queues, Err(denied())));
    let text = screen(&model).join("\n");
    assert!(text.contains("refused") && text.contains("a token is needed (401 unauthenticated)"), "{text}");
}

#[test]
fn without_colours_there_is_none_and_without_glyphs_all_is_ascii() {
    let mut model = model(120, 40);
    model.theme = Theme::new(false, false);
    for keys in ["1", "2", "3", "4", "5", "6", "?", "\x1b", "2\n", "e"] {
        press(&mut model, keys);
        let buffer = buffer(&model);
        assert!(
            buffer.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset),
            "{keys}"
        );
        let text = screen(&model).join("\n");
        assert!(text.is_ascii(), "{keys}: {text}");
    }
}

#[test]
fn what_was_told_goes_again_and_never_hides_that_the_server_is_away() {
    let mut model = model(80, 24);
    press(&mut model, "T");
    assert!(screen(&model)[23].contains("light background"), "{}", screen(&model)[23]);
    let why = "connection refused".to_owned();
    update(&mut model, Message::Linked(Link::Broken { since: std::time::Duration::ZERO, why }));
    assert!(screen(&model)[23].contains("what is shown is old"), "{}", screen(&model)[23]);
    update(&mut model, Message::Linked(Link::Open));
    at(&mut model, 10.0);
    update(&mut model, Message::Linked(Link::Open));
    assert!(screen(&model)[23].contains("q quit"), "{}", screen(&model)[23]);
}

#[test]
fn the_chosen_row_stays_on_the_screen() {
    let mut model = model(80, 8);
    press(&mut model, "G");
    let text = screen(&model).join("\n");
    assert!(text.contains("▸reports"), "{text}");
}
