// What the judge page shows of what was judged.

#include "app/document/background.h"
#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/row_detail_view.h"
#include "evaluation/families.h"
#include "store/judging/growth_figure.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/accuracy_plot.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/evidence/growth_plot.h"
#include "widgets/evidence/method_matrix_view.h"
#include "widgets/evidence/residual_plot.h"
#include "widgets/evidence/row_chips.h"

#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QTimer>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace orrery::app {

namespace {

ui::Cell percentCell(double share, ui::Tone tone = ui::Tone::Normal) {
    return {ui::percentText(share), share, {}, tone, true};
}
ui::Cell signedCell(double share) {
    return {ui::signedPercentText(share), share};
}
ui::Cell timeCell(double seconds) {
    return {ui::text(Seconds(seconds)), seconds, ui::fullText(seconds, Dimension::Time)};
}
constexpr std::size_t drawsOfGrowth = 100;  // a few milliseconds at 2,000 rows
constexpr double widestName = 220;          // pixels, before the theme's scale
constexpr double behindCompared = 1e6;      // a mean error that none has

ui::Cell wordCell(const QString& word, ui::Tone tone = ui::Tone::Normal) {
    return {word, 0, word, tone, false};
}

bool simulated(const std::vector<ReferenceTable>& tables, std::span<const RowRef> rows) {
    return std::ranges::any_of(rows, [&](const RowRef& ref) {
        return tables[static_cast<std::size_t>(ref.table)].kind == ReferenceKind::Simulated;
    });
}

/// Not among the assumptions that a method makes about single kernels.
QString assumptionText(const Compared& compared, int judgement) {
    QStringList words;
    for (const Aspect aspect : compared.differing)
        words << QStringLiteral("%1: %2").arg(
            ui::qs(toText(aspect)),
            ui::qs(compared.assumptions[static_cast<std::size_t>(judgement)][static_cast<std::size_t>(aspect)].value));
    return words.join(QStringLiteral(" · "));
}

ui::Cell dash() {
    return {QStringLiteral("–"), 0, {}, ui::Tone::Muted};
}

/// `A`: whose equal a compared method is, as its front says.
ui::Cell groupCell(const Compared& compared, int judgement, const QString& tip) {
    const CommonFigures* figures = compared.figuresOf(judgement);
    if (compared.differing.empty()) return wordCell(AccuracyTab::tr("all"));
    if (!figures || compared.page->groups < 2) {
        ui::Cell none = wordCell(QStringLiteral("–"), ui::Tone::Muted);
        none.tip = tip;
        return none;
    }
    ui::Cell cell = wordCell(ui::qs(groupLetter(figures->group)));
    cell.value = static_cast<double>(figures->group);
    cell.tip = tip;
    return cell;
}

QString assumptionTip(const Assumptions& assumptions) {
    QStringList lines;
    for (const Aspect aspect : aspects) {
        const Assumption& each = assumptions[static_cast<std::size_t>(aspect)];
        lines << QStringLiteral("%1: %2. %3")
                     .arg(ui::qs(toText(aspect)), ui::qs(each.value), ui::windowText(each.meaning));
    }
    return lines.join(QLatin1Char('\n'));
}

/// Where methods are told apart, one that is alone with what it assumes is first of nobody.
ui::Cell firstCell(const CommonFigures& figures, std::size_t groups) {
    QString tip = AccuracyTab::tr("The mean error is %1 to %2 in 90 % of resampled rows")
                      .arg(ui::percentText(figures.mapeLow), ui::percentText(figures.mapeHigh));
    if (groups > 1) {
        tip += figures.equals > 1
                   ? AccuracyTab::tr(". First of %1 methods with the same assumptions").arg(figures.equals)
                   : AccuracyTab::tr(". No other method has the same assumptions");
        if (figures.equals < 2) return {AccuracyTab::tr("alone"), 0, tip, ui::Tone::Muted};
    }
    return {QStringLiteral("%1 %").arg(100 * figures.firstShare, 0, 'f', 0), figures.firstShare, tip};
}

/// Of how many rows the figures beside it are, of those that the method prices.
ui::Cell rowsCell(std::size_t rows, std::size_t own) {
    ui::Cell cell{ui::countText(static_cast<double>(rows)), static_cast<double>(rows)};
    if (rows != own)
        cell.tip = AccuracyTab::tr("It predicts %1 rows. Its figures use the %2 rows that every shown method predicts")
                       .arg(ui::countText(static_cast<double>(own)), cell.text);
    return cell;
}

ui::Cell costCell(const EvaluationFigures& figures) {
    if (!(figures.secondsPerAnswer > 0)) return wordCell(AccuracyTab::tr("not stated"), ui::Tone::Muted);
    return {ui::text(Seconds(figures.secondsPerAnswer)), figures.secondsPerAnswer,
            AccuracyTab::tr("The middle half of the answers took %1 to %2")
                .arg(ui::text(Seconds(figures.secondsLow)), ui::text(Seconds(figures.secondsHigh)))};
}

ui::Cell samplesCell(const MethodFacts& facts) {
    if (!facts.samples) {
        ui::Cell cell = wordCell(AccuracyTab::tr("not known"), ui::Tone::Muted);
        cell.tip = AccuracyTab::tr("Another program: the data of its fit is not known");
        return cell;
    }
    const auto samples = static_cast<double>(*facts.samples);
    return {ui::countText(samples), samples,
            AccuracyTab::tr("Measured rows to which this method (and the methods it uses) was fitted")};
}

ui::Cell difficultyCell(const MethodFacts& facts) {
    ui::Cell cell = wordCell(ui::qs(facts.difficulty));
    cell.tip = ui::qs(facts.difficultyWhy);
    return cell;
}

ui::Cell fitCell(const MethodFacts& facts) {
    if (!facts.samples) return wordCell(AccuracyTab::tr("not known"), ui::Tone::Muted);
    if (!facts.fitting) return wordCell(AccuracyTab::tr("not measured"), ui::Tone::Muted);
    ui::Cell cell = timeCell(facts.fitting->value);
    if (facts.samples == 0) cell.text = AccuracyTab::tr("none");
    cell.tip = AccuracyTab::tr("Time of its fit on one core, from measured rates");
    return cell;
}

QString pointsTip(const MethodFacts& facts) {
    QStringList lines;
    for (const ReproducibilityPoint& point : facts.reproducibility)
        lines << QStringLiteral("%1 %2: %3")
                     .arg(point.given ? QStringLiteral("✓") : QStringLiteral("–"), ui::qs(point.name),
                          ui::windowText(point.why));
    return lines.join(QLatin1Char('\n'));
}

}  // namespace

struct AccuracyTab::Plane {
    Plane(std::vector<ui::AccuracyPoint> all, std::vector<int> which)
        : points(std::move(all)), pointed(std::move(which)) {}
    std::vector<ui::AccuracyPoint> points;
    std::vector<int> pointed;
};

void AccuracyTab::showChips() {
    std::vector<ui::RowChipGroup> groups;
    // Of large tables only what a worker has counted.
    constexpr std::size_t quick = 20'000;
    const bool counted = compared_ && compared_->chips.size() == facets.size();
    for (const Facet facet : {Facet::Platform, Facet::Level, Facet::Truth, Facet::WorkloadClass, Facet::Kind}) {
        ui::RowChipGroup group{QString::fromLatin1(toText(facet).data(), static_cast<qsizetype>(toText(facet).size())),
                               titleOf(facet),
                               facet == Facet::WorkloadClass || facet == Facet::Kind,
                               {}};
        const auto counts = counted                  ? compared_->chips[static_cast<std::size_t>(facet)]
                            : asked_.size() <= quick ? facetCounts(facet, *tables_, asked_, how_.off)
                                                     : std::vector<FacetCount>();
        const auto off = how_.off.find(facet);
        for (const FacetCount& each : counts)
            group.chips.push_back({ui::qs(each.word), static_cast<qint64>(each.rows),
                                   off == how_.off.end() || !off->second.contains(each.word)});
        groups.push_back(std::move(group));
    }
    chips_->setGroups(groups);
}

void AccuracyTab::showMatrix() {
    ui::MatrixPicture picture;
    if (!compared_ && !soFar_) return matrix_->setPicture(std::move(picture));
    const MethodMatrix& matrix = compared_ ? compared_->matrix : *soFar_;
    for (const MatrixColumn& column : matrix.columns) {
        picture.columns << (column.asked > 0 ? tr("%1 · %2").arg(ui::qs(column.word)).arg(column.asked)
                                             : ui::qs(column.word));
        picture.columnTips
            << (column.asked == 0
                    ? tr("%1: there is no reference row here. Open one on the References tab").arg(ui::qs(column.word))
                    : tr("%1: %2 rows. Methods are compared on %3 rows, which every method with at least half of the "
                         "largest coverage predicts")
                          .arg(ui::qs(column.word))
                          .arg(column.asked)
                          .arg(column.common));
    }
    std::optional<Methodology> before;
    for (const std::size_t entry : matrix.order) {
        const Judgement& judged = judged_[entry];
        const MethodCard& card = *judged.card;
        if (before != card.methodology) {
            before = card.methodology;
            picture.rows.push_back({-1, ui::qs(toText(card.methodology)), {}, static_cast<int>(card.methodology), {}});
        }
        ui::MatrixPicture::Row row{static_cast<int>(entry), judged.title, ui::qs(card.summary), judged.colour, {}};
        for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
            const MatrixCell& cell = matrix.cells[entry][c];
            ui::MatrixPicture::Cell shown;
            shown.median = cell.median;
            shown.low = cell.low;
            shown.high = cell.high;
            shown.rows = static_cast<qint64>(cell.rows);
            shown.common = cell.common || !how_.common;
            shown.least = cell.least;
            const QString where =
                QStringLiteral("%1 · %2").arg(judged.title, ui::qs(matrix.columns[c].word)) + QLatin1Char('\n');
            switch (cell.state) {
                case MatrixCell::State::NoTruth:
                    shown.tip = where + (judged.evaluation || judged.failure ? tr("Nothing was measured here")
                                                                             : tr("Not judged yet"));
                    break;
                case MatrixCell::State::NotApplicable:
                    shown.state = ui::MatrixPicture::Cell::State::NotApplicable;
                    shown.tip = where + tr("Not applicable: %1").arg(ui::qs(cell.reason));
                    break;
                case MatrixCell::State::Judged:
                    shown.state = ui::MatrixPicture::Cell::State::Judged;
                    shown.tip = where + tr("Median error %1, 90 % of it %2 to %3; mean absolute error %4; %5 of the "
                                           "values inside the method's interval; %6 rows%7")
                                            .arg(ui::signedPercentText(cell.median), ui::signedPercentText(cell.low),
                                                 ui::signedPercentText(cell.high), ui::percentText(cell.mape),
                                                 ui::percentText(cell.coverage90))
                                            .arg(cell.rows)
                                            .arg(shown.common ? QString()
                                                              : tr(". It predicts less than half of the rows of this "
                                                                   "column, so it is judged on other rows"));
                    if (cell.equals > 1)
                        shown.tip += cell.least ? tr(". The least mean error of its %1 equals").arg(cell.equals)
                                                : tr(". One of %1 equals").arg(cell.equals);
                    break;
            }
            row.cells.push_back(std::move(shown));
        }
        picture.rows.push_back(std::move(row));
    }
    matrix_->setPicture(std::move(picture));
}

void AccuracyTab::showProgress() {
    const bool running = work_->isRunning();
    run_->setText(running ? tr("Stop") : tr("Judge the methods"));
    if (running) {
        if (!judging_ || work_->fraction() >= 1)
            return state_->setFullText(judging_ ? tr("All methods have answered; they are being compared")
                                                : tr("Methods are being compared"));
        return state_->setFullText(tr("%1 of the rows are done; until then each method is shown on its own rows")
                                       .arg(ui::percentText(std::min(work_->fraction(), 0.99))));
    }
    if (!complaint_.isEmpty()) {
        state_->setTone(ui::Tone::Bad);
        return state_->setFullText(complaint_);
    }
    if (compared_ && compared_->page) {
        QStringList said;
        for (const Diagnostic& each : compared_->page->warnings) said << ui::windowText(each.message);
        if (!said.isEmpty()) {
            state_->setTone(ui::Tone::Warning);
            state_->setFullText(said.join(QStringLiteral("; ")));
            return;
        }
        state_->setTone(ui::Tone::Muted);
    }
    const auto answered = std::ranges::count_if(judged_, [](const Judgement& j) { return j.evaluation != nullptr; });
    const bool counted = compared_ && !compared_->judgements.empty();
    common_->setText(counted ? tr("Only rows that every shown method predicts (%1 of %2)")
                                   .arg(ui::countText(static_cast<double>(compared_->common.rows.size())),
                                        ui::countText(static_cast<double>(compared_->rows.size())))
                             : tr("Only rows that every shown method predicts"));
    if (common_->isChecked() && counted)
        state_->setFullText(
            tr("%1 methods on %2 rows%3; %4%5")
                .arg(compared_->judgements.size())
                .arg(ui::countText(static_cast<double>(compared_->common.rows.size())),
                     compared_->page->question.seen ? QString() : tr(" to which no calibration was fitted"),
                     compared_->differing.empty() ? tr("assumptions are equal")
                     : compared_->page->groups > 1
                         ? tr("%1 groups of equal assumptions: see Figures").arg(compared_->page->groups)
                         : tr("assumptions differ: see Figures"),
                     compared_->page->asSaved ? tr("; every number is the same as in the file") : QString()));
    else if (answered > 0)
        state_->setFullText(tr("%n method(s) judged on held-out rows; the others do not apply to these rows", nullptr,
                               static_cast<int>(answered)));
    else if (judged_.empty())
        state_->setFullText(tr("References say how far to trust each method"));
}

void AccuracyTab::showMethods() {
    std::vector<ui::AccuracyPoint> points;
    std::vector<std::vector<ui::Cell>> cells;
    std::vector<int> pointed;
    const bool common = common_->isChecked() && compared_;
    for (std::size_t i = 0; i < judged_.size(); ++i) {
        const Judgement& each = judged_[i];
        if (!each.evaluation) {
            cells.push_back({wordCell(each.title, ui::Tone::Muted),
                             wordCell(each.failure ? tr("not for these") : tr("…"), ui::Tone::Muted)});
            if (each.failure) cells.back()[1].tip = ui::qs(toText(*each.failure));
            for (ui::Cell& cell : cells.back()) cell.value = 1e300;
            continue;
        }
        const auto at = static_cast<int>(i);
        const bool fresh = compared_ && i < compared_->own.size();
        const EvaluationFigures& own = fresh ? compared_->own[i] : each.evaluation->figures;
        if (own.errors.rows == 0) {
            cells.push_back({wordCell(each.title, ui::Tone::Muted), wordCell(tr("none of these"), ui::Tone::Muted)});
            cells.back()[1].tip = tr("It predicts none of the selected rows");
            for (ui::Cell& cell : cells.back()) cell.value = 1e300;
            continue;
        }
        // On rows of its own: shown pale, with a star, in no ranking.
        const bool apart = compared_ && !compared_->isCompared(at);
        const CommonFigures* shared = common ? compared_->figuresOf(at) : nullptr;
        const EvaluationFigures& figures = shared ? shared->figures : own;
        pointed.push_back(static_cast<int>(cells.size()));
        const MethodCard& card = *each.card;
        const bool intervals = !std::ranges::equal(each.evaluation->rows.low, each.evaluation->rows.high);
        points.push_back({each.method,
                          each.title,
                          each.colour,
                          figures.errors.mape,
                          figures.errors.medianError,
                          figures.errors.p90Error,
                          figures.secondsPerAnswer,
                          simulated(*tables_, shared && !compared_->common.rows.empty() ? compared_->common.rows
                                                                                        : each.evaluation->rows.ref),
                          static_cast<qint64>(figures.errors.rows),
                          card.level,
                          shared ? shared->mapeLow : 0,
                          shared ? shared->mapeHigh : 0,
                          intervals ? figures.coverage90 : -1,
                          ui::qs(toText(card.methodology)),
                          ui::qs(card.id),
                          !fresh                         ? 0
                          : !compared_->facts[i].samples ? -1
                                                         : static_cast<double>(*compared_->facts[i].samples),
                          figures.secondsLow,
                          figures.secondsHigh,
                          apart,
                          shared ? static_cast<int>(shared->group) : 0,
                          fresh && compared_->facts[i].fitting ? compared_->facts[i].fitting->value : 0});
        const EvaluatedRows& rows = each.evaluation->rows;
        const bool states = !std::ranges::equal(rows.low, rows.high);
        const bool honest = figures.coverage90 >= 0.85 && figures.coverage90 <= 0.97;
        cells.push_back(
            {wordCell(apart ? each.title + QStringLiteral(" *") : each.title,
                      apart ? ui::Tone::Muted : ui::Tone::Normal),
             percentCell(figures.errors.mape, apart ? ui::Tone::Muted : ui::Tone::Normal),
             shared ? firstCell(*shared, compared_->page->groups) : dash(),
             rowsCell(figures.errors.rows, own.errors.rows),
             fresh ? groupCell(*compared_, at, assumptionTip(compared_->assumptions[i])) : dash(),
             states ? percentCell(figures.coverage90, honest ? ui::Tone::Normal : ui::Tone::Warning)
                    : wordCell(tr("states none"), ui::Tone::Muted),
             costCell(figures),
             fresh ? difficultyCell(compared_->facts[i]) : dash(),
             fresh ? samplesCell(compared_->facts[i]) : dash(),
             fresh ? fitCell(compared_->facts[i]) : dash(),
             fresh ? ui::Cell{tr("%1 of 10").arg(compared_->facts[i].points()),
                              static_cast<double>(compared_->facts[i].points()), pointsTip(compared_->facts[i])}
                   : dash(),
             percentCell(figures.errors.medianError),
             percentCell(figures.errors.p90Error),
             signedCell(figures.errors.bias),
             {QString::number(figures.errors.kendall, 'f', 2), figures.errors.kendall},
             {ui::countText(static_cast<double>(figures.flagged)), static_cast<double>(figures.flagged)},
             figures.floorRows > 0 ? percentCell(figures.floor) : wordCell(tr("not known"), ui::Tone::Muted),
             fresh ? wordCell(compared_->differing.empty() ? tr("the same as all") : assumptionText(*compared_, at))
                   : dash()});
        if (apart) {
            // After all that are compared, however it is sorted by error: other rows, other figures.
            cells.back()[1].value += behindCompared;
            cells.back()[0].tip = cells.back()[1].tip =
                tr("It predicts only %1 of the %2 rows: not comparable. To compare it, choose it under Methods")
                    .arg(ui::countText(static_cast<double>(own.errors.rows)),
                         ui::countText(static_cast<double>(compared_->rows.size())));
        }
        if (!fresh) continue;
        cells.back().back().tip = assumptionTip(compared_->assumptions[i]);
        if (compared_->fittedRows[i] > 0) {
            ui::Cell& name = cells.back().front();
            name.text += QStringLiteral(" †");
            name.tip = tr("It was fitted to %1 of these rows: its figure is not a prediction")
                           .arg(ui::countText(static_cast<double>(compared_->fittedRows[i])));
        } else if (!each.importedFrom.isEmpty()) {
            cells.back().front().tip = tr("Imported from %1").arg(each.importedFrom);
        }
    }
    // Table and plane each take milliseconds to paint: the plane in a turn of its own, once for all that came
    // meanwhile.
    if (!std::exchange(plane_, std::make_shared<Plane>(std::move(points), std::move(pointed))))
        QTimer::singleShot(0, this, &AccuracyTab::showPlane);
    const bool first = methods_->cells()->rowCount() == 0;
    methods_->setCells(
        // First what decides, and what a low window still shows: error, equals, trust, cost, set-up.
        {tr("Method"), tr("Mean error"), tr("First in"), tr("Rows"), tr("Equals"), tr("In interval"), tr("An answer"),
         tr("Difficulty"), tr("Fitted to"), tr("A fit"), tr("Reproducible"), tr("Median"), tr("90th perc."), tr("Bias"),
         tr("Kendall τ"), tr("Out of domain"), tr("Floor"), tr("Assumes")},
        std::move(cells));
    // A long name gives way: what it is about stands in the columns beside it.
    const int widest = static_cast<int>(widestName * ui::Theme::instance().scale());
    if (first) methods_->setColumnWidth(0, std::min(methods_->columnWidth(0), widest));
    if (shown_ < 0) showMethod(-1);
}

void AccuracyTab::showPlane() {
    const std::shared_ptr<Plane> plane = std::exchange(plane_, nullptr);
    pointed_ = std::move(plane->pointed);
    plot_->setSameRows(!compared_ || (compared_->page && onSameRows(*compared_->page)));
    plot_->setPoints(std::move(plane->points));
}

void AccuracyTab::showMethod(int at) {
    shown_ =
        at >= 0 && static_cast<std::size_t>(at) < judged_.size() && judged_[static_cast<std::size_t>(at)].evaluation
            ? at
            : -1;
    worstRows_.clear();
    residualRows_.clear();
    QStringList others, titles;
    const auto offer = [&](const Judgement& each) {
        if (!each.evaluation || others.contains(each.method)) return;
        others << each.method;
        titles << each.title;
    };
    // The best first: a row is set against the best other one unless somebody chooses.
    if (compared_) {
        for (const std::size_t place : compared_->common.ranking)
            offer(judged_[static_cast<std::size_t>(compared_->judgements[place])]);
    }
    for (const Judgement& each : judged_) offer(each);
    row_->setOthers(others, titles);
    std::vector<std::vector<ui::Cell>> worst, families;
    if (shown_ >= 0) {
        plot_->setCurrent(static_cast<int>(std::ranges::find(pointed_, shown_) - pointed_.begin()));
        const Evaluation& evaluation = *judged_[static_cast<std::size_t>(shown_)].evaluation;
        residualRows_ = shownPlaces();
        worstRows_ = residualRows_;
        const auto wrong = [&](std::size_t i) {
            return std::fabs(std::log(evaluation.rows.predicted[i] / evaluation.rows.measured[i]));
        };
        const auto most = std::min<std::size_t>(worstRows_.size(), 40);
        std::partial_sort(worstRows_.begin(), worstRows_.begin() + static_cast<std::ptrdiff_t>(most), worstRows_.end(),
                          [&](std::size_t a, std::size_t b) {
                              const double x = wrong(a), y = wrong(b);
                              return x != y ? x > y : a < b;
                          });
        worstRows_.resize(most);
        for (const std::size_t row : worstRows_)
            worst.push_back({signedCell(evaluation.rows.error(row)), timeCell(evaluation.rows.predicted[row]),
                             timeCell(evaluation.rows.measured[row]),
                             wordCell(ui::qs(rowText(*tables_, evaluation.rows.ref[row])))});
        for (const EvaluationGroup& group : familiesOf(evaluation.rows, *tables_, residualRows_))
            families.push_back({wordCell(ui::qs(group.device)),
                                wordCell(ui::qs(group.kind)),
                                wordCell(ui::qs(group.variant)),
                                percentCell(group.figures.errors.mape),
                                percentCell(group.figures.errors.medianError),
                                signedCell(group.figures.errors.bias),
                                percentCell(group.figures.coverage90),
                                {ui::countText(static_cast<double>(group.figures.errors.rows)),
                                 static_cast<double>(group.figures.errors.rows)}});
    }
    const QString none = worst.empty() ? whyNoRows(at) : QString();
    residuals_->setEmptySentence(none);
    worst_->setEmptyText(none.isEmpty() ? tr("Worst rows will be listed here.") : none);
    families_->setEmptyText(none.isEmpty() ? tr("Families will be listed here.") : none);
    worst_->setCells({tr("Error"), tr("Predicted"), tr("Measured"), tr("Row")}, std::move(worst));
    families_->setCells({tr("Device"), tr("Kind"), tr("Variant"), tr("Mean error"), tr("Median"), tr("Bias"),
                         tr("In interval"), tr("Rows")},
                        std::move(families));
    showResiduals();
}

QString AccuracyTab::whyNoRows(int judgement) const {
    if (!compared_ || focused_ < 0 || judgement < 0) return {};
    const MethodMatrix& matrix = compared_->matrix;
    const auto entry = static_cast<std::size_t>(judgement), column = static_cast<std::size_t>(focusedColumn_);
    if (entry >= matrix.cells.size() || column >= matrix.columns.size()) return {};
    const MatrixCell& cell = matrix.cells[entry][column];
    if (cell.state != MatrixCell::State::NotApplicable) return {};
    return tr("%1 is not applicable here (%2): %3")
        .arg(judged_[entry].title, ui::qs(matrix.columns[column].word), ui::windowText(cell.reason));
}

void AccuracyTab::showGrowth() {
    std::vector<ui::GrowthMark> marks;
    std::vector<ui::GrowthLevel> levels;
    double correlation = 0;
    if (shown_ >= 0) {
        const Evaluation& evaluation = *judged_[static_cast<std::size_t>(shown_)].evaluation;
        std::vector<RowRef> rows;
        for (const std::size_t i : residualRows_) rows.push_back(evaluation.rows.ref[i]);
        const auto& whole = compared_ ? compared_->rows : rows;
        const ErrorGrowth growth = growthOf(evaluation, *tables_, rows, whole, drawsOfGrowth);
        for (const GrowthPoint& point : growth.points)
            marks.push_back(
                {static_cast<double>(point.kernels), point.measured, point.independent, point.common, point.coverage});
        for (const LevelPoint& level : growth.levels)
            levels.push_back({ui::qs(levelName(level.task)), static_cast<qint64>(level.rows), level.measured,
                              level.median, level.coverage});
        correlation = growth.correlation;
    }
    growth_->setMarks(std::move(marks), correlation, std::move(levels));
}

void AccuracyTab::showResiduals() {
    ui::ResidualRows rows;
    const auto against = static_cast<Against>(against_->currentData().toInt());
    growth_->setVisible(against == Sums);
    residuals_->setVisible(against != Sums);
    if (against == Sums) return showGrowth();
    if (shown_ >= 0) {
        const Judgement& judgement = judged_[static_cast<std::size_t>(shown_)];
        const EvaluatedRows& all = judgement.evaluation->rows;
        for (const std::size_t i : residualRows_) {
            rows.x.push_back(against == Prediction ? all.predicted[i]
                             : against == Size     ? std::max(all.flops[i], all.bytes[i])
                                                   : std::max(all.flops[i] / std::max(all.bytes[i], 1.0), 1e-3));
            rows.error.push_back(all.error(i));
            rows.outside.push_back(all.domain[i] == DomainVerdict::Outside);
        }
        rows.seconds = against == Prediction;
        rows.xName = against == Prediction ? tr("predicted time")
                     : against == Size     ? tr("FLOP (or bytes, where more)")
                                           : tr("FLOP per byte");
        rows.simulated = simulated(*tables_, all.ref);
    }
    residuals_->setRows(std::move(rows));
}

std::vector<std::size_t> AccuracyTab::shownPlaces() const {
    std::vector<std::size_t> places;
    const EvaluatedRows& rows = judged_[static_cast<std::size_t>(shown_)].evaluation->rows;
    std::unordered_set<std::uint64_t> counts;
    const bool common = compared_ && how_.common && compared_->isCompared(shown_);
    if (compared_) {
        for (const RowRef ref : common ? compared_->common.rows : compared_->rows) counts.insert(rowKey(ref));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!compared_ || counts.contains(rowKey(rows.ref[i]))) places.push_back(i);
    }
    return places;
}

}  // namespace orrery::app
