#include "app/window/evidence/judging.h"

#include "learning/calibration.h"
#include "methods/among_all.h"
#include "store/judging/judged_rows.h"
#include "widgets/common/text.h"

#include <QCoreApplication>

#include <algorithm>
#include <unordered_set>

namespace orrery::app {

OptionValues optionsOf(const QString& method) {
    const auto choice = methodChoice(method.toStdString(), builtinMethods());
    return choice ? choice->options : OptionValues();
}

std::vector<Judgement> toBeJudged(const QStringList& choices, const std::vector<std::string>& only) {
    std::vector<Judgement> all;
    // A built-in card outlives everything.
    const auto add = [&all](const Method& method, const QString& asked, const QString& title) {
        all.push_back({asked,
                       title,
                       static_cast<int>(method.card.methodology),
                       {},
                       {},
                       {std::shared_ptr<const MethodCard>(), &method.card},
                       {}});
    };
    for (const std::string& asked : only) {
        if (const Method* method = findMethod(asked)) add(*method, ui::qs(asked), ui::qs(methodTitle(asked)));
    }
    if (!only.empty()) return all;
    // Those that `orrery-cli evaluate` asks too: slower ones, and those that need a file, are named.
    for (const Method& method : builtinMethods())
        if (standsAmongAll(method.card)) add(method, ui::qs(method.card.id), ui::qs(method.card.title));
    for (const QString& choice : choices) {
        const Method* method = findMethod(choice.toStdString());
        const OptionValues options = optionsOf(choice);
        if (!method || options.empty()) continue;
        QStringList words;
        for (const auto& [key, value] : options) {
            // Of a file its name says enough.
            const QString word = ui::qs(value).section(QLatin1Char('/'), -1).section(QLatin1Char('_'), 0, 0);
            words << word;
        }
        add(*method, choice,
            QStringLiteral("%1 (%2)").arg(ui::qs(method->card.title), words.join(QStringLiteral(", "))));
    }
    return all;
}

QString titleOf(Facet facet) {
    switch (facet) {
        case Facet::Platform:
            return QCoreApplication::translate("Judging", "Platform");
        case Facet::WorkloadClass:
            return QCoreApplication::translate("Judging", "Class");
        case Facet::Kind:
            return QCoreApplication::translate("Judging", "Kind");
        case Facet::Level:
            return QCoreApplication::translate("Judging", "Level");
        case Facet::Truth:
            return QCoreApplication::translate("Judging", "Truth");
    }
    return {};
}

bool Compared::isCompared(int judgement) const {
    return std::ranges::find(judgements, judgement) != judgements.end();
}

const CommonFigures* Compared::figuresOf(int judgement) const {
    const auto place = static_cast<std::size_t>(std::ranges::find(judgements, judgement) - judgements.begin());
    return place < judgements.size() ? &common.figures[place] : nullptr;
}

std::vector<MatrixEntry> matrixEntries(const std::vector<Judgement>& judged) {
    std::vector<MatrixEntry> entries;
    for (const Judgement& each : judged) {
        entries.push_back({each.method.toStdString(), each.card.get(), each.evaluation.get(),
                           each.failure ? each.failure->message : std::string()});
    }
    return entries;
}

Compared comparedOf(const std::vector<Judgement>& judged, const std::vector<ReferenceTable>& tables,
                    const std::vector<RowRef>& asked, const Comparing& how, const CalibrationSet& calibrations,
                    FactFinder& facts) {
    Compared compared;
    compared.rows = rowsWithout(tables, asked, how.off);
    std::unordered_set<std::uint64_t> counts;
    for (const RowRef ref : compared.rows) counts.insert(rowKey(ref));
    std::vector<std::vector<std::size_t>> places(judged.size());
    for (std::size_t i = 0; i < judged.size(); ++i) {
        if (judged[i].evaluation) {
            const EvaluatedRows& rows = judged[i].evaluation->rows;
            for (std::size_t row = 0; row < rows.size(); ++row) {
                if (counts.contains(rowKey(rows.ref[row]))) places[i].push_back(row);
            }
        }
    }
    std::vector<std::size_t> priced;
    for (const auto& each : places) priced.push_back(each.size());
    const std::vector<bool> wideOnes = wideEnough(priced);
    EvaluateOptions options;
    options.calibrations = &calibrations;
    options.asMeasured = how.equal;
    std::vector<const Evaluation*> evaluations;
    std::vector<Assumptions> ofCompared;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        EvaluationFigures own;
        if (judged[i].evaluation) {
            own = figuresOf(judged[i].evaluation->rows, places[i]);
            const EvaluationFigures& whole = judged[i].evaluation->figures;
            own.secondsPerAnswer = whole.secondsPerAnswer;
            own.secondsLow = whole.secondsLow;
            own.secondsHigh = whole.secondsHigh;
        }
        compared.own.push_back(own);
        const MethodCard& card = *judged[i].card;
        const bool imported = !judged[i].importedFrom.isEmpty();
        options.options = optionsOf(judged[i].method);
        compared.assumptions.push_back(assumptionsOf(card, tables, compared.rows, options));
        compared.facts.push_back(facts.facts(judged[i].method.toStdString(), card, judged[i].evaluation.get(), tables,
                                             compared.rows, calibrations, imported));
        compared.fittedRows.push_back(fittedAmong(card.id, tables, compared.rows, calibrations));
        if (imported) compared.assumptions.back().fill({"not said", "The file of results does not say"});
        const auto chosen = how.chosen.find(judged[i].method);
        const bool wide = chosen == how.chosen.end() ? wideOnes[i] : chosen->second;
        if (places[i].empty() || !wide) continue;
        compared.judgements.push_back(static_cast<int>(i));
        evaluations.push_back(judged[i].evaluation.get());
        if (!imported) ofCompared.push_back(compared.assumptions.back());
    }
    if (!evaluations.empty()) {
        compared.common = onCommonRows(evaluations, compared.rows);
        if (!ofCompared.empty()) compared.differing = differing(ofCompared);
    }
    for (const Facet facet : facets) compared.chips.push_back(facetCounts(facet, tables, asked, how.off));
    FacetsOff others = how.off;
    others.erase(how.by);
    compared.matrix =
        methodMatrix(matrixEntries(judged), tables, rowsWithout(tables, asked, others), how.by, how.common);
    return compared;
}

}  // namespace orrery::app
