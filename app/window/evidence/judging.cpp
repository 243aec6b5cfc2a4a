#include "app/window/evidence/judging.h"

#include "methods/among_all.h"
#include "widgets/common/text.h"

#include <QCoreApplication>

#include <algorithm>

namespace orrery::app {

OptionValues optionsOf(const QString& method) {
    const auto choice = methodChoice(method.toStdString(), builtinMethods());
    return choice ? choice->options : OptionValues();
}

namespace {

/// A built-in card outlives everything, and so does an adapter's.
Judgement unjudged(const Method& method, const QString& asked, const QString& title) {
    return {asked, title, static_cast<int>(method.card.methodology),
            {},    {},    {std::shared_ptr<const MethodCard>(), &method.card},
            {}};
}

bool isBuiltIn(const Method& method) {
    return std::ranges::any_of(builtinMethods(), [&](const Method& each) { return each.card.id == method.card.id; });
}

QString titleOf(const Method& method, const OptionValues& options) {
    QStringList words;
    for (const auto& [key, value] : options) {
        // Of a file its name says enough, and most of what is meant: it stands first.
        const QString word = ui::qs(value).section(QLatin1Char('/'), -1).section(QLatin1Char('_'), 0, 0);
        value.find('/') == std::string::npos ? words.append(word) : words.prepend(word);
    }
    const QString title = ui::qs(method.card.title);
    return words.isEmpty() ? title : QStringLiteral("%1 (%2)").arg(title, words.join(QStringLiteral(", ")));
}

}  // namespace

std::vector<Judgement> toBeJudged(const QStringList& choices, const std::vector<std::string>& only) {
    std::vector<Judgement> all;
    for (const std::string& asked : only) {
        if (const Method* method = findMethod(asked))
            all.push_back(unjudged(*method, ui::qs(asked), titleOf(*method, optionsOf(ui::qs(asked)))));
    }
    if (!only.empty()) return all;
    // Those that `orrery-cli evaluate` asks too: slower ones, and those that need a file, are named.
    for (const Method& method : builtinMethods())
        if (isJudgedUnnamed(method.card))
            all.push_back(unjudged(method, ui::qs(method.card.id), ui::qs(method.card.title)));
    for (const QString& choice : choices) {
        const Method* method = findMethod(choice.toStdString());
        if (!method || std::ranges::any_of(all, [&](const Judgement& each) { return each.method == choice; })) continue;
        const OptionValues options = optionsOf(choice);
        // It can answer nothing yet. Another program says for itself what it lacks.
        if (options.empty() && isBuiltIn(*method) && asksForFile(method->card)) continue;
        all.push_back(unjudged(*method, choice, titleOf(*method, options)));
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

MethodMatrix matrixSoFar(const JudgingQuestion& question, const std::vector<ReferenceTable>& tables,
                         const std::vector<RowRef>& asked, const std::vector<Judgement>& judged) {
    FacetsOff others = question.without;
    others.erase(question.by);
    MethodMatrix matrix =
        methodMatrix(matrixEntries(judged), tables, rowsWithout(tables, asked, others), question.by, question.common);
    for (std::size_t i = 0; i < judged.size(); ++i)
        if (!judged[i].evaluation && !judged[i].failure) matrix.cells[i].assign(matrix.columns.size(), MatrixCell());
    return matrix;
}

Judgement judgementOf(const JudgedEntry& imported) {
    return {ui::qs(imported.asked),
            QCoreApplication::translate("Judging", "%1 (imported)").arg(ui::qs(imported.title)),
            static_cast<int>(imported.card->methodology),
            imported.evaluation,
            {},
            imported.card,
            ui::qs(imported.importedFrom)};
}

Judged pageOf(const JudgingQuestion& question, const ReferenceTablesPtr& tables, const std::vector<RowRef>& asked,
              const std::vector<Judgement>& judged) {
    Judged page;
    page.question = question;
    page.tables = tables;
    page.asked = asked;
    for (const Judgement& each : judged) {
        JudgedEntry entry;
        entry.asked = each.method.toStdString();
        entry.title = each.importedFrom.isEmpty() ? each.title.toStdString() : entry.asked;
        entry.card = each.card;
        entry.importedFrom = each.importedFrom.toStdString();
        entry.evaluation = each.evaluation;
        entry.refusal = each.failure;
        page.entries.push_back(std::move(entry));
    }
    return page;
}

Compared comparedOf(Judged page, const CalibrationSet& calibrations, FactFinder& facts, const std::stop_token& stop) {
    compareJudged(page, calibrations, facts, stop);
    Compared compared;
    compared.rows = page.rows;
    compared.common.rows = page.common;
    compared.differing = page.differing;
    compared.matrix = page.matrix;
    std::vector<std::size_t> placeOf(page.entries.size());
    for (std::size_t i = 0; i < page.entries.size(); ++i) {
        const JudgedEntry& entry = page.entries[i];
        compared.own.push_back(entry.own);
        compared.assumptions.push_back(entry.assumptions);
        compared.facts.push_back(entry.facts);
        compared.fittedRows.push_back(entry.fittedRows);
        if (!entry.compared) continue;
        placeOf[i] = compared.judgements.size();
        compared.judgements.push_back(static_cast<int>(i));
        compared.common.figures.push_back(entry.common);
    }
    for (const std::size_t i : page.ranking) compared.common.ranking.push_back(placeOf[i]);
    for (const Facet facet : facets)
        compared.chips.push_back(facetCounts(facet, *page.tables, page.asked, page.question.without));
    compared.saved = savedRows(page);
    compared.page = std::make_shared<const Judged>(std::move(page));
    return compared;
}

}  // namespace orrery::app
