#include "app/window/evidence/judging.h"

#include "evaluation/holdout.h"
#include "learning/calibration.h"
#include "widgets/common/text.h"

#include <QCoreApplication>

#include <algorithm>
#include <unordered_set>

namespace orrery::app {

OptionValues optionsOf(const QString& method) {
    const auto choice = methodChoice(method.toStdString(), builtinMethods());
    return choice ? choice->options : OptionValues();
}

std::vector<Judgement> toBeJudged(const QStringList& choices) {
    std::vector<Judgement> all;
    for (const Method& method : builtinMethods())
        all.push_back({ui::qs(method.card.id), ui::qs(method.card.title), static_cast<int>(method.card.methodology)});
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
        all.push_back({choice,
                       QStringLiteral("%1 (%2)").arg(ui::qs(method->card.title), words.join(QStringLiteral(", "))),
                       static_cast<int>(method->card.methodology)});
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

std::vector<RowRef> thinned(std::vector<RowRef> rows, std::size_t most) {
    if (rows.size() <= most) return rows;
    std::vector<RowRef> kept;
    kept.reserve(most);
    for (std::size_t i = 0; i < most; ++i) kept.push_back(rows[i * rows.size() / most]);
    return kept;
}

std::vector<RowRef> unseen(const std::vector<ReferenceTable>& tables, std::vector<RowRef> rows,
                           const CalibrationSet& calibrations) {
    std::set<std::string> splits;
    for (const auto& calibration : calibrations.all())
        for (const CalibrationSection& section : calibration->sections) splits.insert(section.split);
    // Calibrations are of kernels, and of GPUs and processors: nothing else can have been fitted.
    const auto fitted = [&](RowRef ref) {
        const std::string platform = facetOf(Facet::Platform, tables, ref);
        return facetOf(Facet::Level, tables, ref) == "kernel" && platform != "TPU" && platform != "Accelerator" &&
               platform != "Edge";
    };
    std::vector<RowRef> kernels;
    std::ranges::copy_if(rows, std::back_inserter(kernels), fitted);
    for (const std::string& words : splits) {
        const auto holdout = readHoldout(words);
        if (!holdout || holdout->kind != Holdout::Kind::Fraction) continue;
        if (auto split = splitRows(tables, kernels, *holdout)) kernels = std::move(split->test);
    }
    std::unordered_set<std::uint64_t> left;
    for (const RowRef ref : kernels) left.insert(rowKey(ref));
    std::erase_if(rows, [&](RowRef ref) { return fitted(ref) && !left.contains(rowKey(ref)); });
    return rows;
}

std::vector<MatrixEntry> matrixEntries(const std::vector<Judgement>& judged) {
    std::vector<MatrixEntry> entries;
    for (const Judgement& each : judged) {
        const Method* method = findMethod(each.method.toStdString());
        entries.push_back({each.method.toStdString(), &method->card, each.evaluation.get(),
                           each.failure ? each.failure->message : std::string()});
    }
    return entries;
}

Compared comparedOf(const std::vector<Judgement>& judged, const std::vector<ReferenceTable>& tables,
                    const std::vector<RowRef>& asked, const Comparing& how, const CalibrationSet& calibrations) {
    Compared compared;
    compared.rows = rowsWithout(tables, asked, how.off);
    std::unordered_set<std::uint64_t> counts;
    for (const RowRef ref : compared.rows) counts.insert(rowKey(ref));
    std::vector<std::vector<std::size_t>> places(judged.size());
    std::size_t most = 0;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        if (judged[i].evaluation) {
            const EvaluatedRows& rows = judged[i].evaluation->rows;
            for (std::size_t row = 0; row < rows.size(); ++row) {
                if (counts.contains(rowKey(rows.ref[row]))) places[i].push_back(row);
            }
        }
        most = std::max(most, places[i].size());
    }
    EvaluateOptions options;
    options.calibrations = &calibrations;
    options.asMeasured = how.equal;
    std::vector<const Evaluation*> evaluations;
    std::vector<Assumptions> ofCompared;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        const std::string id = judged[i].method.toStdString();
        EvaluationFigures own;
        if (judged[i].evaluation) {
            own = figuresOf(judged[i].evaluation->rows, places[i]);
            const EvaluationFigures& whole = judged[i].evaluation->figures;
            own.secondsPerAnswer = whole.secondsPerAnswer;
            own.secondsLow = whole.secondsLow;
            own.secondsHigh = whole.secondsHigh;
        }
        compared.own.push_back(own);
        const MethodCard& card = findMethod(id)->card;
        options.options = optionsOf(judged[i].method);
        compared.assumptions.push_back(assumptionsOf(card, tables, compared.rows, options));
        compared.samples.push_back(samplesBehind(card.id, tables, compared.rows, calibrations));
        const auto chosen = how.chosen.find(judged[i].method);
        const bool wide = chosen == how.chosen.end() ? 2 * places[i].size() >= most : chosen->second;
        if (places[i].empty() || !wide) continue;
        compared.judgements.push_back(static_cast<int>(i));
        evaluations.push_back(judged[i].evaluation.get());
        ofCompared.push_back(compared.assumptions.back());
    }
    if (!evaluations.empty()) {
        compared.common = onCommonRows(evaluations, compared.rows);
        compared.differing = differing(ofCompared);
    }
    for (const Facet facet : facets) compared.chips.push_back(facetCounts(facet, tables, asked, how.off));
    FacetsOff others = how.off;
    others.erase(how.by);
    compared.matrix =
        methodMatrix(matrixEntries(judged), tables, rowsWithout(tables, asked, others), how.by, how.common);
    return compared;
}

}  // namespace orrery::app
