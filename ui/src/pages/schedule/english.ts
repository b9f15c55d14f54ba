/** A rule of a schedule in plain English. What cannot be said well is left as it is written. */
import type { Schedule } from "@/api/types";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const MACROS: Record<string, string> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const two = (value: number) => String(value).padStart(2, "0");
const isNumber = (text: string) => /^\d+$/.test(text);

function list(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? "";
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function ordinal(value: number): string {
  const tail = value % 100 >= 11 && value % 100 <= 13 ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th");
  return `${value}${tail}`;
}

/** The values of a field that is a list of numbers, names and ranges; undefined if it is anything else. */
function values(field: string, names: readonly string[], base: number): number[] | undefined {
  const one = (text: string): number | undefined => {
    if (isNumber(text)) return Number(text);
    const at = names.findIndex((name) => name.slice(0, 3).toLowerCase() === text.toLowerCase());
    return at < 0 ? undefined : at + base;
  };
  const found: number[] = [];
  for (const part of field.split(",")) {
    const ends = part.split("-");
    const from = one(ends[0] ?? "");
    const to = ends.length === 1 ? from : ends.length === 2 ? one(ends[1] ?? "") : undefined;
    // A range this long is no longer a list that anybody reads.
    if (from === undefined || to === undefined || to < from || to - from > 60) return undefined;
    for (let value = from; value <= to; value += 1) found.push(value);
  }
  return found;
}

function daysOfWeek(field: string): string | undefined {
  const days = values(field, DAYS, 0)?.map((day) => day % 7);
  if (!days || days.some((day) => day > 6)) return undefined;
  const key = [...new Set(days)].sort((a, b) => a - b).join("");
  if (key === "12345") return "Weekdays";
  if (key === "06") return "Weekends";
  if (key === "0123456") return "Every day";
  return list([...new Set(days)].map((day) => `${DAYS[day]}s`));
}

function dayPart(day: string, month: string, weekday: string): string | undefined {
  const months = month === "*" ? undefined : values(month, MONTHS, 1)?.map((each) => MONTHS[each - 1] ?? "?");
  if (month !== "*" && (!months || months.includes("?"))) return undefined;
  if (day === "*" && weekday === "*") return months ? `Every day in ${list(months)}` : "Every day";
  if (day === "*") {
    const days = daysOfWeek(weekday);
    return days && (months ? `${days} in ${list(months)}` : days);
  }
  // A day of the month together with a weekday means either of them, which is better read as it is written.
  if (weekday !== "*") return undefined;
  const dates = values(day, [], 0);
  if (!dates) return undefined;
  const which = `On the ${list(dates.map(ordinal))}`;
  return months ? `${which} of ${list(months)}` : `${which} of every month`;
}

/** A cron expression in words; undefined where they would be longer than it. */
export function cronInEnglish(cron: string): string | undefined {
  const fields = (MACROS[cron.trim().toLowerCase()] ?? cron).trim().split(/\s+/);
  if (fields.length === 6 && fields[0] === "0") fields.shift();
  if (fields.length !== 5) return undefined;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields.map((field) => (field === "?" ? "*" : field));
  const when = dayPart(day, month, weekday);
  if (when === undefined) return undefined;
  const always = when === "Every day";
  const tail = always ? "" : `, ${when.charAt(0).toLowerCase()}${when.slice(1)}`;
  const tailNamed = always ? "" : `, ${when}`;
  const ending = /^(On|Every|Weekdays|Weekends)/.test(when) ? tail : tailNamed;
  const everyMinutes = /^\*\/(\d+)$/.exec(minute);
  if (minute === "*" && hour === "*") return `Every minute${ending}`;
  if (everyMinutes && hour === "*") return `Every ${everyMinutes[1]} minutes${ending}`;
  const everyHours = /^\*\/(\d+)$/.exec(hour);
  if (isNumber(minute) && (hour === "*" || everyHours)) {
    const past = Number(minute) === 0 ? "on the hour" : `at ${Number(minute)} past`;
    return `Every ${everyHours ? `${everyHours[1]} hours` : "hour"}, ${past}${ending}`;
  }
  const minutes = values(minute, [], 0);
  const hours = values(hour, [], 0);
  if (!minutes || !hours || minutes.length * hours.length > 4) return undefined;
  const times = hours.flatMap((each) => minutes.map((past) => `${two(each)}:${two(past)}`));
  return `${when} at ${list(times)}`;
}

/** How a schedule fires, with its zone where that matters. */
export function ruleInEnglish(schedule: Pick<Schedule, "cron" | "every" | "at" | "time_zone">): string {
  if (schedule.cron) return `${cronInEnglish(schedule.cron) ?? schedule.cron} ${schedule.time_zone}`;
  if (schedule.every !== undefined && schedule.every !== null) return `Every ${String(schedule.every)}`;
  return schedule.at ? `Once, at ${schedule.at}` : "—";
}

/** As it is written. */
export const ruleOf = (schedule: Pick<Schedule, "cron" | "every" | "at">): string => schedule.cron ?? schedule.at ?? `every ${String(schedule.every ?? "")}`;
