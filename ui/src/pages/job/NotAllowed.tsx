/** Said in the place of what a caller may not read. */
import { EmptyState } from "@/design";

export function NotAllowed({ what }: { what: string }) {
  return <EmptyState title={`${what} are not for you`}>They need the permission “read_payload”. Anybody with the permission “admin” can give another role.</EmptyState>;
}
