// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { inOrderOf, useSteady } from "./steady";

const same = (row: string) => row;

test("known rows stay where they were, new ones come at the end", () => {
  expect(inOrderOf(["new", "c", "a", "b"], ["a", "b", "c"], same)).toEqual(["a", "b", "c", "new"]);
  expect(inOrderOf(["c", "a"], ["a", "b", "c"], same)).toEqual(["a", "c"]);
});

function List({ rows, chosen }: { rows: readonly string[]; chosen?: string }) {
  const steady = useSteady(rows, same, true, chosen);
  return (
    <div data-testid="list" {...steady.hold}>
      {steady.rows.join(" ")}
    </div>
  );
}

test("nothing moves under the pointer, and everything is in its place when it has left", () => {
  const { rerender } = render(<List rows={["a", "b"]} />);
  const list = screen.getByTestId("list");
  rerender(<List rows={["b", "a"]} />);
  expect(list.textContent).toBe("b a");
  fireEvent.pointerEnter(list);
  rerender(<List rows={["c", "a", "b"]} />);
  expect(list.textContent).toBe("b a c");
  fireEvent.pointerLeave(list);
  expect(list.textContent).toBe("c a b");
});

test("an order that somebody chooses is taken up under the pointer, and then held", () => {
  const { rerender } = render(<List rows={["a", "b"]} />);
  const list = screen.getByTestId("list");
  fireEvent.pointerEnter(list);
  rerender(<List rows={["b", "a"]} chosen="name" />);
  expect(list.textContent).toBe("b a");
  rerender(<List rows={["a", "b"]} chosen="name" />);
  expect(list.textContent).toBe("b a");
});
