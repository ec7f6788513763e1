// The annotations of an answer: each once, in the order of their times.

export interface Note {
  start: number; // ms since 1970
  end: number; // the same; 0 = a moment
  title: string;
  text: string; // more than the title; may be empty
  tags: [string, string][]; // custom fields
  everywhere: boolean; // of no series: a global one
}

interface NoteItem {
  startTime?: number;
  endTime?: number;
  description?: string;
  notes?: string;
  custom?: Record<string, unknown> | null;
}

interface AnswerItem {
  annotations?: NoteItem[];
  globalAnnotations?: NoteItem[];
}

const kSecondsMax = 10_000_000_000; // greater numbers are milliseconds

function ms(time: number | undefined): number {
  if (!time || time < 0) return 0;
  return time < kSecondsMax ? time * 1000 : time;
}

function noteOf(item: NoteItem, everywhere: boolean): Note {
  const custom = Object.entries(item.custom ?? {}).map(([key, value]): [string, string] => [key, String(value)]);
  return {
    start: ms(item.startTime),
    end: ms(item.endTime),
    title: item.description || "Annotation",
    text: item.notes ?? "",
    tags: custom,
    everywhere,
  };
}

export function decodeNotes(answer: unknown): Note[] {
  if (!Array.isArray(answer)) return [];
  const notes = new Map<string, Note>();
  for (const item of answer as AnswerItem[]) {
    const found = [
      ...(item?.annotations ?? []).map((one) => noteOf(one, false)),
      ...(item?.globalAnnotations ?? []).map((one) => noteOf(one, true)),
    ];
    for (const note of found) {
      if (note.start > 0) notes.set(JSON.stringify(note), note);
    }
  }
  return [...notes.values()].sort((a, b) => a.start - b.start);
}
