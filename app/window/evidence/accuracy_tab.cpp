#include "app/window/evidence/accuracy_tab.h"

#include "app/document/background.h"
#include "app/window/evidence/row_detail_view.h"
#include "app/window/form_parts.h"
#include "evaluation/evaluation_export.h"
#include "evaluation/tool_claims.h"
#include "widgets/common/flow_layout.h"
#include "widgets/common/label.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/tab_stack.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/accuracy_plot.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/evidence/first_column.h"
#include "widgets/evidence/growth_plot.h"
#include "widgets/evidence/method_matrix_view.h"
#include "widgets/evidence/residual_plot.h"
#include "widgets/evidence/row_chips.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

namespace orrery::app {

AccuracyTab::AccuracyTab(ReferenceShelf* shelf, QWidget* parent)
    : QWidget(parent),
      shelf_(shelf),
      work_(new Background(this)),
      writing_(new Background(this)),
      tables_(shelf->tables()) {
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(unit * 3 / 2, unit, unit * 3 / 2, unit);
    column->setSpacing(unit);
    column->addWidget(buildHead());
    column->addWidget(buildChips());
    auto* split = named(new QSplitter(Qt::Horizontal, this), "accuracy.split", tr("Methods and rows"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    auto* left = named(new QSplitter(Qt::Vertical, split), "accuracy.left", tr("Error and cost"),
                       tr("Drag the border to give one side more room"));
    plot_ = new ui::AccuracyPlot(left);
    below_ = named(new QTabWidget(left), "accuracy.below", tr("Methods by scenario, and their figures"),
                   tr("Methods by platform, class or level, or all figures of each"));
    below_->setDocumentMode(true);
    named(below_->tabBar(), "accuracy.below.tabs", tr("Methods by scenario, and their figures"),
          tr("Methods by platform, class or level, or all figures of each"));
    methods_ = new ui::CellsTable(QStringLiteral("accuracy.methods"), tr("Methods judged"),
                                  tr("Click a head to sort; a row shows that method's residuals and worst rows"),
                                  ui::stackOf(below_));
    methods_->sortByColumn(1, Qt::AscendingOrder);
    ui::keepFirstColumn(methods_);
    matrix_ = new ui::MethodMatrixView(ui::stackOf(below_));
    by_ = named(new QComboBox(below_), "accuracy.by", tr("Columns of the matrix"),
                tr("Columns: platforms, classes of workloads, kinds, levels, kinds of truth"));
    for (const Facet facet : facets) by_->addItem(tr("by %1").arg(titleOf(facet).toLower()), static_cast<int>(facet));
    below_->addTab(matrix_, tr("By scenario"));
    below_->addTab(methods_, tr("Figures"));
    below_->setCornerWidget(by_);
    // Figures have columns of their own.
    connect(below_, &QTabWidget::currentChanged, this, [this] { by_->setVisible(below_->currentWidget() == matrix_); });
    left->addWidget(plot_);
    left->addWidget(below_);
    left->setStretchFactor(0, 5);
    left->setStretchFactor(1, 4);
    left->setSizes({500, 400});
    auto* right = named(new QSplitter(Qt::Vertical, split), "accuracy.right", tr("Residuals and rows"),
                        tr("Drag the border to give one side more room"));
    auto* above = new QWidget(right);
    auto* inside = new QVBoxLayout(above);
    inside->setContentsMargins(unit, 0, 0, 0);
    inside->setSpacing(unit / 2);
    against_ = named(new QComboBox(above), "accuracy.against", tr("Residuals against"),
                     tr("Horizontal axis of the residuals"));
    against_->addItem(tr("Residuals by arithmetic intensity"), Intensity);
    against_->addItem(tr("Residuals by size"), Size);
    against_->addItem(tr("Residuals by prediction"), Prediction);
    against_->addItem(tr("Growth: kernels to sums"), Sums);
    residuals_ = new ui::ResidualPlot(above);
    growth_ = new ui::GrowthPlot(above);
    growth_->hide();
    inside->addWidget(against_, 0, Qt::AlignLeft);
    inside->addWidget(residuals_, 1);
    inside->addWidget(growth_, 1);
    auto* lists = named(new QTabWidget(right), "accuracy.lists", tr("Worst rows and families"),
                        tr("The largest errors, and the errors by family"));
    lists->setDocumentMode(true);
    named(lists->tabBar(), "accuracy.tabs", tr("Worst rows and families"),
          tr("The rows with the largest errors, or all families"));
    worst_ = new ui::CellsTable(QStringLiteral("accuracy.worst"), tr("Worst rows"),
                                tr("The rows with the largest errors, with file and line"), ui::stackOf(lists));
    families_ = new ui::CellsTable(QStringLiteral("accuracy.families"), tr("Families"),
                                   tr("Errors by device, kind and variant"), ui::stackOf(lists));
    // It asks for more height than a low window has beside the residuals: it scrolls, the page does not.
    auto* rowFrame = named(new QScrollArea(ui::stackOf(lists)), "accuracy.row.frame", tr("One row under two methods"),
                           tr("How two methods build up their times, and where they differ"));
    rowFrame->setFrameShape(QFrame::NoFrame);
    rowFrame->setWidgetResizable(true);
    rowFrame->setFocusPolicy(Qt::NoFocus);
    row_ = new RowDetailView(rowFrame);
    rowFrame->setWidget(row_);
    lists->addTab(worst_, tr("Worst rows"));
    lists->addTab(rowFrame, tr("This row"));
    lists->addTab(families_, tr("By family"));
    right->addWidget(above);
    right->addWidget(lists);
    split->addWidget(left);
    split->addWidget(right);
    split->setStretchFactor(0, 5);
    split->setStretchFactor(1, 4);
    split->setSizes({500, 400});
    column->addWidget(split, 1);

    connect(plot_, &ui::AccuracyPlot::chosen, this, [this](int point) {
        const int method = pointed_[static_cast<std::size_t>(point)];
        methods_->setCurrentRow(method);
        showMethod(method);
    });
    connect(methods_, &ui::CellsTable::rowChosen, this, &AccuracyTab::showMethod);
    connect(against_, &QComboBox::activated, this, &AccuracyTab::showResiduals);
    connect(residuals_, &ui::ResidualPlot::chosen, this,
            [this](int point) { askRow(residualRows_[static_cast<std::size_t>(point)]); });
    connect(worst_, &ui::CellsTable::rowChosen, this, [this](int row) {
        const std::size_t at = worstRows_[static_cast<std::size_t>(row)];
        const auto place = std::ranges::find(residualRows_, at);
        if (place != residualRows_.end()) residuals_->setCurrent(static_cast<int>(place - residualRows_.begin()));
        askRow(at);
    });
    connect(row_, &RowDetailView::drawingRequested, this, &AccuracyTab::drawRow);
    connect(plot_, &ui::AccuracyPlot::publishedChosen, this, [this](int cross) {
        const Claim& claim = shippedClaims().all[static_cast<std::size_t>(cross)];
        state_->setFullText(
            tr("%1: %2 %3 (%4)")
                .arg(ui::qs(claim.tool), ui::percentText(claim.error), ui::qs(claim.what), ui::qs(claim.source)));
    });
    connect(matrix_, &ui::MethodMatrixView::rowChosen, this, &AccuracyTab::showMethod);
    connect(matrix_, &ui::MethodMatrixView::cellChosen, this, &AccuracyTab::focusOn);
    connect(by_, &QComboBox::activated, this, [this] {
        how_.by = static_cast<Facet>(by_->currentData().toInt());
        compare();
    });
    connect(shelf_, &ReferenceShelf::changed, this, [this] {
        if (judged_.empty()) {
            tables_ = shelf_->tables();
            asked_ = selectRows(*tables_, {});
            showChips();
        }
    });
    connect(work_, &Background::advanced, this, &AccuracyTab::showProgress);
    connect(work_, &Background::ended, this, [this] {
        judging_ = false;
        showMethods();
        // Nobody has chosen one yet: the best on the common rows.
        if (shown_ < 0 && compared_ && !compared_->common.ranking.empty())
            shown_ = compared_->judgements[compared_->common.ranking.front()];
        // In turns of their own, so that none holds the window up.
        inTurn([this] {
            showMatrix();
            inTurn([this] {
                fillMethodsMenu();
                showChips();
                showProgress();
                inTurn([this] {
                    if (shown_ >= 0) showMethod(shown_);
                    inTurn([this] {
                        emit judged();
                        // Chips that were clicked while methods were judged.
                        if (std::exchange(stale_, false)) compare();
                    });
                });
            });
        });
    });
    asked_ = selectRows(*tables_, {});
    showChips();
    showMatrix();
    showMethods();
    showProgress();
}

void AccuracyTab::inTurn(std::function<void()> then) {
    QTimer::singleShot(0, this, [this, turn = ++turn_, then = std::move(then)] {
        if (turn == turn_ && !work_->isRunning()) then();
    });
}

QWidget* AccuracyTab::buildHead() {
    auto* head = new QWidget(this);
    auto* row = new ui::FlowLayout(ui::Theme::instance().unit(), head);
    from_ = named(new QToolButton(head), "accuracy.from", tr("From a file"),
                  tr("This page follows a file. Click to leave the file"));
    from_->hide();
    where_ = named(new QLineEdit(head), "accuracy.where", tr("Which rows"),
                   tr("Conditions that must all hold: device=h100-sxm, kind=gemm, dtype=bf16, m=1..64; write | between "
                      "alternatives"));
    where_->setPlaceholderText(tr("all rows, or device=h100-sxm, kind=gemm, dtype=bf16"));
    where_->setClearButtonEnabled(true);
    most_ = named(new QSpinBox(head), "accuracy.most", tr("Rows at most"),
                  tr("Maximum number of rows, spread evenly over the tables. Every method gets the same rows"));
    most_->setRange(1, 1000000);
    most_->setValue(2000);
    most_->setSingleStep(1000);
    most_->setGroupSeparatorShown(true);
    most_->setPrefix(tr("at most "));
    most_->setSuffix(tr(" rows"));
    run_ = named(new QPushButton(tr("Judge the methods"), head), "accuracy.run", tr("Judge the methods"),
                 tr("Evaluates every method on the references. While it runs: stops it and keeps the results so far"));
    chosen_ = named(new QToolButton(head), "accuracy.compared", tr("Methods that are compared"),
                    tr("Methods to compare. Only rows that all of them predict are counted"));
    chosen_->setText(tr("Methods"));
    chosen_->setPopupMode(QToolButton::InstantPopup);
    chosen_->setMenu(new QMenu(chosen_));
    chosen_->setEnabled(false);
    export_ = named(new QPushButton(tr("Export …"), head), "accuracy.export", tr("Export"),
                    tr("The picture as SVG, PDF or PNG; rows as CSV, figures as JSON or a table of LaTeX"));
    export_->setEnabled(false);
    save_ = named(new QPushButton(tr("Save …"), head), "accuracy.save", tr("Save the page"),
                  tr("Saves rows, chips, methods and conditions as a file. It opens here again, and with orrery-cli "
                     "evaluate FILE and orrery-cli study FILE --out DIR"));
    import_ =
        named(new QPushButton(tr("Import results …"), head), "accuracy.import", tr("Import results"),
              tr("Another tool's predictions of these rows, as CSV: method, row, predicted_s. `orrery-cli evaluate "
                 "FILE --questions rows.csv` writes these rows"));
    import_->setEnabled(false);
    row->addWidget(from_);
    row->addWidget(where_);
    row->addWidget(most_);
    row->addWidget(run_);
    row->addWidget(chosen_);
    row->addWidget(import_);
    row->addWidget(save_);
    row->addWidget(export_);
    connect(from_, &QToolButton::clicked, this, &AccuracyTab::leaveFile);
    connect(import_, &QPushButton::clicked, this, &AccuracyTab::importRequested);
    connect(save_, &QPushButton::clicked, this, &AccuracyTab::saveRequested);
    connect(export_, &QPushButton::clicked, this, &AccuracyTab::exportRequested);
    connect(run_, &QPushButton::clicked, this, [this] { work_->isRunning() ? work_->cancel() : judge(); });
    connect(where_, &QLineEdit::returnPressed, this, &AccuracyTab::judge);
    return head;
}

QWidget* AccuracyTab::buildChips() {
    const int unit = ui::Theme::instance().unit();
    auto* rows = new QWidget(this);
    auto* column = new QVBoxLayout(rows);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit / 2);
    chips_ = new ui::RowChips(rows);
    connect(chips_, &ui::RowChips::toggled, this, &AccuracyTab::turnFacet);
    auto* row = new ui::FlowLayout(unit * 2);
    common_ = named(new QCheckBox(tr("Only rows that every shown method predicts"), rows), "accuracy.common",
                    tr("Only rows that every method predicts"),
                    tr("On: figures use the rows that every compared method predicts. Off: each method uses its own "
                       "rows, and the means are over different rows"));
    common_->setChecked(true);
    connect(common_, &QCheckBox::toggled, this, [this](bool on) {
        how_.common = on;
        compare();
    });
    equal_ =
        named(new QCheckBox(tr("Equal assumptions"), rows), "accuracy.equal", tr("Equal assumptions"),
              tr("Whole models are evaluated with the launches and the fusion with which they were measured, where "
                 "the method has the option. A fitted method keeps the clock and the software of its "
                 "measurements. So methods are grouped by these. First in counts within a group, and the column "
                 "Assumes names the groups. Off: each method uses its own default, and all are compared"));
    equal_->setChecked(true);
    connect(equal_, &QCheckBox::toggled, this, [this](bool on) {
        how_.equal = on;
        if (!judged_.empty()) judge();
    });
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, rows);
    state_->setElided(true);
    state_->setMinimumWidth(25 * unit);
    state_->setObjectName(QStringLiteral("accuracy.state"));
    setUp_ =
        named(new QCheckBox(tr("Cost: set-up"), rows), "accuracy.setup", tr("Cost: set-up"),
              tr("Cost is the number of measured rows that a method was fitted to, instead of the time of an answer. "
                 "Its label adds how long such a fit takes on one core"));
    connect(setUp_, &QCheckBox::toggled, this,
            [this](bool on) { plot_->setCost(on ? ui::CostAxis::SetUp : ui::CostAxis::Answer); });
    published_ = named(new QCheckBox(tr("Published claims"), rows), "accuracy.published", tr("Published claims"),
                       tr("Published errors of other tools, as grey crosses with their source. They are from other "
                          "rows and not connected to a point"));
    connect(published_, &QCheckBox::toggled, this, &AccuracyTab::showPublished);
    row->addWidget(common_);
    row->addWidget(equal_);
    row->addWidget(setUp_);
    row->addWidget(published_);
    row->addWidget(state_);
    column->addWidget(chips_);
    column->addLayout(row);
    return rows;
}

void AccuracyTab::setCalibrations(std::shared_ptr<const CalibrationSet> calibrations) {
    calibrations_ = std::move(calibrations);
}

void AccuracyTab::showPublished() {
    std::vector<ui::PublishedPoint> points;
    if (published_->isChecked()) {
        for (const Claim& claim : shippedClaims().all) {
            points.push_back(
                {ui::qs(claim.tool),
                 tr("%1: %2 %3\n%4")
                     .arg(ui::qs(claim.tool), ui::percentText(claim.error), ui::qs(claim.what), ui::qs(claim.source)),
                 claim.error, claim.seconds});
        }
    }
    plot_->setPublished(std::move(points));
}

void AccuracyTab::askRow(std::size_t place) {
    const Judgement& judgement = judged_[static_cast<std::size_t>(shown_)];
    row_->ask({tables_, shelf_->index(), calibrations_, judgement.evaluation->rows.ref[place], judgement.method,
               how_.equal, opened_ && opened_->leaveDeviceOut});
}

void AccuracyTab::drawRow() {
    const auto& asked = row_->question();
    if (!asked) return;
    const auto question = rowQuestion(*asked->tables, asked->row);
    if (!question) return emit refused(question.error());
    QStringList methods;
    for (const QString& each : {row_->other(), asked->method}) {
        const auto method = asked->asMeasured ? methodAsMeasured(*asked->tables, asked->row, each.toStdString())
                                              : Expected<std::string>(each.toStdString());
        if (!method) return emit refused(method.error());
        methods << ui::qs(*method);
    }
    emit drawingRequested(*question, methods);
}

void AccuracyTab::turnFacet(const QString& group, const QString& word, bool on) {
    for (const Facet facet : facets) {
        if (group != QLatin1String(toText(facet).data())) continue;
        auto& off = how_.off[facet];
        if (on) {
            off.erase(word.toStdString());
        } else {
            off.insert(word.toStdString());
        }
        if (off.empty()) how_.off.erase(facet);
    }
    matrix_->setChosen(-1, -1);
    compare();
}

/// A cell of the matrix: its rows alone count, and its method is shown. The same cell again: all rows.
void AccuracyTab::focusOn(int judgement, int column) {
    if (!compared_ || judging_) return;
    const MatrixColumn& head = compared_->matrix.columns[static_cast<std::size_t>(column)];
    std::set<std::string> others;
    for (const MatrixColumn& each : compared_->matrix.columns) {
        if (each.word != head.word && each.asked > 0) others.insert(each.word);
    }
    shown_ = judgement;
    const auto now = how_.off.find(how_.by);
    const bool again = now != how_.off.end() && now->second == others && focused_ == judgement;
    if (again || head.asked == 0) {
        how_.off.erase(how_.by);
        focused_ = -1;
    } else {
        how_.off[how_.by] = others;
        if (others.empty()) how_.off.erase(how_.by);
        focused_ = judgement;
        focusedColumn_ = column;
    }
    matrix_->setChosen(focused_, focused_ < 0 ? -1 : column);
    compare();
}

void AccuracyTab::narrowTo(Facet facet, const std::string& word, int judgement) {
    if (!compared_ || judging_ || judgement < 0 || static_cast<std::size_t>(judgement) >= judged_.size()) return;
    how_.off.clear();
    for (const FacetCount& each : facetCounts(facet, *tables_, asked_))
        if (each.word != word) how_.off[facet].insert(each.word);
    shown_ = judgement;
    focused_ = -1;
    matrix_->setChosen(-1, -1);
    compare();
}

void AccuracyTab::fillMethodsMenu() {
    QMenu* menu = chosen_->menu();
    menu->clear();
    bool any = false;
    for (std::size_t i = 0; i < judged_.size(); ++i) {
        const Judgement& each = judged_[i];
        if (!each.evaluation) continue;
        QAction* action = menu->addAction(
            tr("%1 (%2 rows)").arg(each.title, ui::countText(static_cast<double>(each.evaluation->rows.size()))));
        action->setCheckable(true);
        action->setChecked(compared_ && compared_->isCompared(static_cast<int>(i)));
        connect(action, &QAction::toggled, this, [this, method = each.method](bool on) {
            how_.chosen[method] = on;
            compare();
        });
        any = true;
    }
    if (!results_.empty()) {
        menu->addSeparator();
        connect(menu->addAction(tr("Remove imported results")), &QAction::triggered, this, &AccuracyTab::removeResults);
    }
    chosen_->setEnabled(any && !work_->isRunning());
    import_->setEnabled(any && !work_->isRunning());
    export_->setEnabled(any && !work_->isRunning());
}

QString AccuracyTab::exportTo(const QString& file) {
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == QLatin1String("svg") || ending == QLatin1String("pdf") || ending == QLatin1String("png"))
        return plot_->exportTo(file);
    if (!compared_ || compared_->judgements.empty()) return tr("No method has been judged yet");
    const std::vector<MatrixEntry> entries = matrixEntries(judged_);
    if (file.endsWith(QLatin1String("matrix.csv")))
        return ui::writeText(file, QByteArray::fromStdString(matrixCsv(compared_->matrix, entries)));
    SideBySide all;
    all.asked = compared_->rows.size();
    all.common = compared_->common.rows;
    all.ranking = compared_->common.ranking;
    for (std::size_t i = 0; i < compared_->judgements.size(); ++i) {
        const Judgement& each = judged_[static_cast<std::size_t>(compared_->judgements[i])];
        all.methods.push_back({each.method.toStdString(), *each.evaluation, {}, compared_->common.figures[i]});
    }
    std::string where = where_->text().toStdString();
    if (const std::string terms = facetTerms(*tables_, asked_, how_.off); !terms.empty())
        where.append(where.empty() ? "" : ",").append(terms);
    const std::string text = ending == QLatin1String("csv") ? sideBySideCsv(all, *tables_)
                             : ending == QLatin1String("tex")
                                 ? sideBySideTex(all) + "\n" + matrixTex(compared_->matrix, entries)
                                 : sideBySideJson(all, *tables_, {{}, where, {}});
    return ui::writeText(file, QByteArray::fromStdString(text));
}

}  // namespace orrery::app
