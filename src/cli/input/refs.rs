//! Refs that several documents declare, found with eight to twelve bytes for each ref.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::schedule::{Code, Document, Documents, Fault, Part, Reference};
use crate::wire::{Source, Span, spans};

/// A hash of every ref that was read, in the order of reading. Refs are told apart by reading
/// them again, and only where two hashes are equal.
#[derive(Default)]
pub(super) struct Refs {
    hashes: Vec<u64>,
    /// The files that were begun, each with the number of refs before it.
    files: Vec<(usize, usize)>,
}

impl Refs {
    /// Says that the refs to come stand in this file.
    pub(super) fn begin_file(&mut self, file: usize) {
        self.files.push((file, self.hashes.len()));
    }

    /// Notes the refs of a text.
    pub(super) fn note(&mut self, documents: &Documents) {
        for reference in references(documents) {
            if self.hashes.len() == self.hashes.capacity() {
                // Doubling would take twice what is needed.
                self.hashes.reserve_exact(64 + self.hashes.len() / 4);
            }
            self.hashes.push(hash(reference));
        }
    }

    /// The refs that share their hash with another one.
    pub(super) fn suspects(&self) -> Suspects {
        let count = u32::try_from(self.hashes.len()).unwrap_or(u32::MAX);
        let mut sorted: Vec<u32> = (0..count).collect();
        sorted.sort_unstable_by_key(|&index| (self.hashes[index as usize], index));
        let mut refs = HashSet::new();
        for pair in sorted.windows(2) {
            if self.hashes[pair[0] as usize] == self.hashes[pair[1] as usize] {
                refs.extend(pair.iter().map(|&index| index as usize));
            }
        }
        drop(sorted);
        let mut files = Vec::new();
        for (at, &(file, first)) in self.files.iter().enumerate() {
            let end = self.files.get(at + 1).map_or(self.hashes.len(), |&(_, first)| first);
            if (first..end).any(|index| refs.contains(&index)) {
                files.push((file, first));
            }
        }
        files.reverse();
        Suspects { refs, files, next: 0, met: HashMap::new(), told: 0, untold: None }
    }
}

/// So many repeats of one ref are told.
const REPEATS_AT_MOST: u64 = 10;

/// So many repeats are told in all.
const TOLD_AT_MOST: u64 = 100_000;

/// Refs that may be declared twice, met again in the order of reading.
pub(super) struct Suspects {
    /// By their number in the order of reading.
    refs: HashSet<usize>,
    /// The files that hold some, the next one last, each with the number of refs before it.
    files: Vec<(usize, usize)>,
    /// The number of the next ref.
    next: usize,
    /// What is known of each that was met.
    met: HashMap<Reference, Met>,
    /// How many repeats were told.
    told: u64,
    /// Those that were not.
    untold: Option<Untold>,
}

/// A ref that was met before.
struct Met {
    /// Where it was declared first.
    first: String,
    repeats: u64,
}

/// Repeats that are not told one by one.
pub(super) struct Untold {
    /// The file of the first of them.
    pub(super) file: String,
    /// Its line.
    pub(super) line: u64,
    count: u64,
}

impl Untold {
    /// The fault that says how many they are.
    pub(super) fn fault(&self) -> Fault {
        let message = format!("from here on {} refs more are declared twice", self.count);
        let hint = Some("repair those that are told, and check again".to_owned());
        let (pointer, part) = (String::new(), Part::Byte { at: 0 });
        Fault { code: Code::TooManyFaults, pointer, part, message, hint }
    }
}

impl Suspects {
    /// The next file that holds some.
    pub(super) fn begin_file(&mut self) -> Option<usize> {
        let (file, first) = self.files.pop()?;
        self.next = first;
        Some(file)
    }

    /// Leaves only the workflows whose ref was declared before, with that as their only fault.
    pub(super) fn keep_duplicates(&mut self, documents: &mut Documents, source: Source<'_>) {
        documents.faults.clear();
        documents.documents.retain_mut(|document| {
            document.declaration = None;
            document.faults = self.suspicion(document).into_iter().collect();
            !document.faults.is_empty()
        });
        let mut spans = spans(source, faults(documents)).into_iter();
        documents.documents.retain_mut(|Document { reference, faults, .. }| {
            let (Some(reference), Some(span)) = (reference, spans.next()) else { return false };
            let Some(met) = self.met.get_mut(reference) else {
                let first = place(source, span);
                self.met.insert(reference.clone(), Met { first, repeats: 0 });
                return false;
            };
            met.repeats += 1;
            if met.repeats > REPEATS_AT_MOST || self.told == TOLD_AT_MOST {
                let untold = Untold { file: source.file.to_owned(), line: span.line, count: 0 };
                self.untold.get_or_insert(untold).count += 1;
                return false;
            }
            self.told += 1;
            for fault in faults {
                fault.message = format!("`{reference}` is declared twice, first at {}", met.first);
            }
            true
        });
    }

    /// What was not told.
    pub(super) fn into_untold(self) -> Option<Untold> {
        self.untold
    }

    /// The fault of the next document, if its ref may be declared twice.
    fn suspicion(&mut self, document: &Document) -> Option<Fault> {
        document.reference.as_ref()?;
        let index = self.next;
        self.next += 1;
        let (pointer, part) = match document.pointer.as_str() {
            "" => ("/ref".to_owned(), Part::Value),
            pointer => (pointer.to_owned(), Part::Key),
        };
        let (message, hint) = (String::new(), Some("rename or remove one of them".to_owned()));
        let fault = Fault { code: Code::DuplicateRef, pointer, part, message, hint };
        self.refs.contains(&index).then_some(fault)
    }
}

/// Says of refs that one project declares twice where they are declared first.
pub(super) fn add_first_places(documents: &mut Documents, source: Source<'_>) {
    let is_repeat = |fault: &&Fault| fault.code == Code::DuplicateRef;
    let first = |fault: &Fault| Fault { part: Part::Key, ..fault.clone() };
    let firsts: Vec<Fault> = faults(documents).filter(is_repeat).map(first).collect();
    if firsts.is_empty() {
        return;
    }
    let repeats = documents.documents.iter_mut().flat_map(|document| &mut document.faults);
    let repeats = repeats.filter(|fault| fault.code == Code::DuplicateRef);
    for (fault, span) in repeats.zip(spans(source, &firsts)) {
        fault.message.push_str(&format!(", first at {}", place(source, span)));
    }
}

fn faults(documents: &Documents) -> impl Iterator<Item = &Fault> {
    documents.documents.iter().flat_map(|document| &document.faults)
}

/// File, line and column.
fn place(source: Source<'_>, span: Span) -> String {
    format!("{}:{}:{}", source.file, span.line, span.column)
}

fn references(documents: &Documents) -> impl Iterator<Item = &Reference> {
    documents.documents.iter().filter_map(|document| document.reference.as_ref())
}

fn hash(reference: &Reference) -> u64 {
    let mut hasher = DefaultHasher::new();
    reference.as_str().hash(&mut hasher);
    hasher.finish()
}
