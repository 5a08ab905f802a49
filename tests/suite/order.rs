//! Checks that the order of objects does not change the bytes, unless the controller itself depends on order.

use chancery_core::backend::envoy::Document;
use chancery_tests::chance::Chance;
use chancery_tests::generate::documents;
use chancery_tests::work::Work;

#[test]
fn shuffled_documents_give_the_same_bytes() {
    for seed in 0..6 {
        let mut documents = documents(60, seed);
        let mut sorted = Work::of(&documents.concat());
        let expected = [sorted.text(Document::Bootstrap), sorted.text(Document::Resources)];
        for round in 0..4 {
            Chance::new(seed * 100 + round).shuffle(&mut documents);
            let mut shuffled = Work::of(&documents.concat());
            assert!(expected[0] == shuffled.text(Document::Bootstrap), "the bootstrap of seed {seed}, round {round}");
            assert!(expected[1] == shuffled.text(Document::Resources), "the resources of seed {seed}, round {round}");
        }
    }
}

#[test]
fn the_same_text_gives_the_same_answer_twice() {
    let text = documents(80, 3).concat();
    let question = format!("\n{text}");
    let ask = || chancery_parity::answer(&question, chancery_parity::What::All);
    assert!(ask() == ask());
}
