/** Names of queues in which `*` stands for anything. */
export function matches(glob: string, name: string): boolean {
  const pattern = glob.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pattern.join(".*")}$`).test(name);
}
