//! Apiary's plugin: what transcripts cannot show. (The conversations are `fixtures/commands/poll-*`.)

mod manifest;
mod polls;
