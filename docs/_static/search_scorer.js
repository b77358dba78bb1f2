// Whoever looks for a word wants first the pages that explain it, then those that name it, and last those that record
// what was measured or changed. The numbers are Sphinx's own.
var Scorer = {
  score: ([page, , , , score]) => {
    if (/^(benchmarks|experience|experiments|generated\/project\/)/.test(page)) return score - 20;
    return /^(start|which-method|learn\/|tutorials\/)/.test(page) ? score + 4 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
