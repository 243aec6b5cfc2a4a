// The tool rows of the workload page: metric, threshold, search, folding, layout, views.

#include "app/window/form_parts.h"
#include "app/window/workload/workload_page.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/graph/graph_view.h"
#include "widgets/graph/measured_times.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QSlider>
#include <QSortFilterProxyModel>

namespace orrery::app {

namespace {

ui::IconButton* button(const char* icon, const QString& name, const char* objectName, QWidget* page) {
    return new ui::IconButton(QLatin1String(icon), name, QLatin1String(objectName), page);
}

}  // namespace

QWidget* WorkloadPage::buildHead(QWidget* page) {
    const int unit = ui::Theme::instance().unit();
    auto* bar = new QWidget(page);
    auto* head = new QHBoxLayout(bar);
    head->setContentsMargins(unit * 3 / 2, unit, unit, unit / 2);
    head->setSpacing(unit);
    title_ = new QLabel(bar);
    title_->setProperty("role", "title");
    title_->setTextFormat(Qt::PlainText);
    totals_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, bar);
    totals_->setElided(true);
    auto* options = new QPushButton(tr("Options"), bar);
    options->setObjectName(QStringLiteral("workloadOptions"));
    options->setAccessibleName(tr("Options of the workload"));
    options->setToolTip(tr("Batch, sequence, precision and phase in the inspector"));
    connect(options, &QPushButton::clicked, this, &WorkloadPage::workloadClicked);
    views_[0] = button("distribute-graph-directed", tr("Graph"), "workloadShowGraph", bar);
    views_[1] = button("view-split-top-bottom", tr("Graph and table"), "workloadShowBoth", bar);
    views_[2] = button("table", tr("Table"), "workloadShowTable", bar);
    head->addWidget(title_);
    head->addSpacing(unit);
    head->addWidget(totals_, 1);
    for (int i = 0; i < 3; ++i) {
        views_[i]->setCheckable(true);
        connect(views_[i], &QToolButton::clicked, this, [this, i] { setShows(static_cast<Show>(i)); });
        head->addWidget(views_[i]);
    }
    head->addWidget(options);
    return bar;
}

QWidget* WorkloadPage::buildTools(QWidget* page) {
    const int unit = ui::Theme::instance().unit();
    auto* bar = new QWidget(page);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(unit * 3 / 2, 0, unit, unit / 2);
    row->setSpacing(unit / 2);
    metric_ = new QComboBox(bar);
    metric_->setObjectName(QStringLiteral("graphMetric"));
    metric_->setAccessibleName(tr("Colour of the graph"));
    metric_->setToolTip(tr("Meaning of the colours of the graph"));
    metric_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    metric_->setMinimumContentsLength(12);
    metric_->setMaximumWidth(unit * 34);
    metric_->setMaxVisibleItems(24);
    run_ = new QComboBox(bar);
    run_->setObjectName(QStringLiteral("graphRun"));
    run_->setAccessibleName(tr("Run that the colours show"));
    run_->setToolTip(
        tr("Adds the answers of a stored run to the colours, and their difference to the current answers"));
    run_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    run_->setMinimumContentsLength(8);
    run_->setMaximumWidth(unit * 24);
    run_->addItem(tr("Live answers"), QVariant::fromValue<qlonglong>(0));
    threshold_ = new QSlider(Qt::Horizontal, bar);
    threshold_->setObjectName(QStringLiteral("graphThreshold"));
    threshold_->setAccessibleName(tr("Threshold"));
    threshold_->setToolTip(tr("Dims the operators below this share of the scale"));
    threshold_->setRange(0, 100);
    threshold_->setFixedWidth(unit * 11);
    search_ = new QLineEdit(bar);
    search_->setObjectName(QStringLiteral("workloadSearch"));
    search_->setAccessibleName(tr("Find operators"));
    search_->setToolTip(tr("Marks the operators whose name or type contains this; Enter goes to the next (Ctrl+F)"));
    search_->setPlaceholderText(tr("Find operators"));
    search_->setClearButtonEnabled(true);
    search_->setMinimumWidth(unit * 11);
    search_->setMaximumWidth(unit * 28);
    matches_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, bar);
    previous_ = button("go-up", tr("Previous match (Shift+F3)"), "graphPrevious", bar);
    next_ = button("go-down", tr("Next match (F3)"), "graphNext", bar);
    running_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, bar);
    auto* fold = button("collapse-all", tr("Fold all groups"), "graphFoldAll", bar);
    auto* unfold = button("expand-all", tr("Unfold all groups"), "graphUnfoldAll", bar);
    direction_ = button("object-rotate-right", tr("Left to right"), "graphDirection", bar);
    direction_->setCheckable(true);
    refine_ =
        button("draw-bezier-curves", tr("Refine the layout with Graphviz; press again to cancel"), "graphRefine", bar);
    refine_->setCheckable(true);
    auto* fit = button("zoom-fit-best", tr("Show all of it (Home)"), "graphFit", bar);
    auto* more = button("application-menu", tr("Export, measured times"), "graphMenu", bar);

    row->addWidget(run_, 1);
    row->addWidget(metric_, 3);
    row->addWidget(threshold_);
    row->addSpacing(unit);
    row->addWidget(search_, 2);
    row->addWidget(matches_);
    row->addWidget(previous_);
    row->addWidget(next_);
    row->addStretch(1);
    row->addWidget(running_);
    for (QToolButton* each : std::initializer_list<QToolButton*>{fold, unfold, direction_, refine_, fit, more})
        row->addWidget(each);

    connect(metric_, &QComboBox::activated, this, [this](int at) {
        wantedMetric_ = metric_->itemData(at).toString();
        graph_->setMetric(wantedMetric_);
        threshold_->setEnabled(graph_->shownMetric() && graph_->shownMetric()->choices.empty());
    });
    connect(run_, &QComboBox::activated, this, [this] { Q_EMIT runChosen(run_->currentData().toLongLong()); });
    connect(threshold_, &QSlider::valueChanged, this, [this](int percent) {
        graph_->setThreshold(percent / 100.0);
        threshold_->setToolTip(tr("Dims the operators below this share of the scale: %1 %").arg(percent));
    });
    connect(search_, &QLineEdit::textChanged, this, &WorkloadPage::takeSearch);
    connect(search_, &QLineEdit::returnPressed, this, [this] { graph_->findNext(); });
    connect(previous_, &QToolButton::clicked, this, [this] { graph_->findNext(true); });
    connect(next_, &QToolButton::clicked, this, [this] { graph_->findNext(); });
    connect(fold, &QToolButton::clicked, graph_, &ui::GraphView::foldAll);
    connect(unfold, &QToolButton::clicked, graph_, &ui::GraphView::unfoldAll);
    connect(direction_, &QToolButton::toggled, graph_, &ui::GraphView::setLeftToRight);
    connect(refine_, &QToolButton::clicked, this, [this](bool on) {
        refine_->setChecked(false);
        if (on)
            graph_->refineLayout();
        else
            graph_->cancelLayout();
    });
    connect(fit, &QToolButton::clicked, graph_, &ui::GraphView::fitAll);
    connect(more, &QToolButton::clicked, this, [this, more] {
        QMenu* menu = pageMenu();
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->popup(more->mapToGlobal(QPoint(0, more->height())));
    });
    const auto shortcut = [this](const QKeySequence& keys, auto run) {
        auto* each = new QShortcut(keys, this);
        each->setContext(Qt::WidgetWithChildrenShortcut);
        connect(each, &QShortcut::activated, this, run);
    };
    shortcut(QKeySequence::Find, [this] { openSearch(); });
    shortcut(QKeySequence(Qt::Key_F3), [this] { graph_->findNext(); });
    shortcut(QKeySequence(Qt::SHIFT | Qt::Key_F3), [this] { graph_->findNext(true); });
    return bar;
}

void WorkloadPage::openSearch() {
    make();
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
}

void WorkloadPage::takeSearch(const QString& text) {
    // Rows that go are not unselected operators: the selection stays.
    quiet_ = true;
    filter_->setFilterFixedString(text.trimmed());
    quiet_ = false;
    graph_->find(text);
    selectRows();
}

void WorkloadPage::showMatches() {
    const int all = graph_->matches(), at = graph_->currentMatch();
    const bool searching = !search_->text().trimmed().isEmpty();
    matches_->setText(!searching ? QString()
                      : at > 0   ? tr("%1 of %2").arg(at).arg(all)
                                 : tr("%n match(es)", nullptr, all));
    previous_->setEnabled(all > 0);
    next_->setEnabled(all > 0);
}

void WorkloadPage::fillMetrics() {
    metric_->clear();
    metric_->addItem(tr("Kind of operator"), QString());
    for (const ui::HeatMetric& each : graph_->metrics()) {
        metric_->addItem(each.title, each.id);
        metric_->setItemData(metric_->count() - 1, each.note, Qt::ToolTipRole);
    }
    metric_->setCurrentIndex(std::max(metric_->findData(wantedMetric_), 0));
    graph_->setMetric(metric_->currentData().toString());
    threshold_->setEnabled(graph_->shownMetric() && graph_->shownMetric()->choices.empty());
}

void WorkloadPage::setRuns(const std::vector<RunChoice>& runs) {
    runs_ = runs;
    if (!isMade()) return;
    const auto chosen = run_->currentData();
    run_->clear();
    run_->addItem(tr("Live answers"), QVariant::fromValue<qlonglong>(0));
    for (const RunChoice& each : runs) {
        run_->addItem(each.text, QVariant::fromValue<qlonglong>(each.id));
        run_->setItemData(run_->count() - 1, each.tip, Qt::ToolTipRole);
    }
    run_->setCurrentIndex(std::max(run_->findData(chosen), 0));
    run_->setEnabled(!runs.empty());
}

void WorkloadPage::setStored(std::vector<ui::StoredAnswers> stored) {
    if (!isMade() && stored.empty()) return;
    make();
    const QString first = stored.empty() ? QString() : stored.front().run;
    if (stored.empty()) run_->setCurrentIndex(0);
    graph_->setStored(std::move(stored));
    // The first of the run's own numbers, so that the choice is seen at once.
    if (first.isEmpty()) return;
    for (int at = 0; at < metric_->count(); ++at) {
        if (!metric_->itemData(at).toString().startsWith(QStringLiteral("time/") + first)) continue;
        metric_->setCurrentIndex(at);
        Q_EMIT metric_->activated(at);
        return;
    }
}

void WorkloadPage::holdAgainst(ui::StoredAnswers baseline, bool choose) {
    make();
    const QString start = QStringLiteral("ratio/") + baseline.run;
    graph_->setStored({std::move(baseline)});
    if (!choose) return;
    for (int at = 0; at < metric_->count(); ++at) {
        if (!metric_->itemData(at).toString().startsWith(start)) continue;
        metric_->setCurrentIndex(at);
        Q_EMIT metric_->activated(at);
        return;
    }
}

void WorkloadPage::wantMetric(const QString& id) {
    wantedMetric_ = id;
    if (isMade()) fillMetrics();
}

QMenu* WorkloadPage::pageMenu() {
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("workloadMenu"));
    menu->addAction(tr("Measured times …"), this, &WorkloadPage::chooseMeasured)
        ->setToolTip(tr("A CSV file with the columns operator and time"));
    menu->addSeparator();
    menu->addAction(tr("Export the graph …"), this, &WorkloadPage::exportGraph);
    menu->addAction(tr("Copy the picture"), graph_, &ui::GraphView::copyPicture);
    return menu;
}

void WorkloadPage::chooseMeasured() {
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Measured times of operators"), {}, tr("Comma-separated (%1);;All files (*)").arg(packedToo({"csv"})));
    if (!file.isEmpty()) loadMeasured(file);
}

void WorkloadPage::loadMeasured(const QString& file) {
    if (!workload_) return;
    make();
    Expected<ui::MeasuredTimes> times = ui::readMeasuredTimes(file.toStdString(), workload_->graph);
    if (!times) return Q_EMIT refused(times.error());
    const int rest = static_cast<int>(times->unmatched.size());
    QString text = tr("%1 of %2 operators have a measured time").arg(times->matched).arg(times->seconds.size());
    if (rest > 0) text += tr("; %n name(s) of the file are not in the graph", nullptr, rest);
    QStringList names;
    for (const std::string& name : times->unmatched) {
        if (names.size() == 50) break;
        names << QString::fromStdString(name);
    }
    if (rest > 50) names << tr("… and %1 more").arg(rest - 50);
    graph_->setMeasured(std::move(times->seconds));
    Q_EMIT noted(text, names.join(QLatin1Char('\n')));
}

void WorkloadPage::exportGraph() {
    QString chosen;
    QString file = QFileDialog::getSaveFileName(
        this, tr("Export the graph"), QStringLiteral("graph.svg"),
        tr("SVG (*.svg);;PNG (*.png);;PDF (*.pdf);;CSV (*.csv);;TEX table (*.tex)"), &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QLatin1Char('.') + chosen.left(3).toLower();
    if (const QString problem = graph_->exportTo(file); !problem.isEmpty()) {
        Diagnostic refusal;
        refusal.code = "export.failed";
        refusal.message = problem.toStdString();
        refusal.hint = "choose another folder";
        refusal.place.file = file.toStdString();
        return Q_EMIT refused(refusal);
    }
    Q_EMIT noted(tr("Wrote %1").arg(file), {});
}

}  // namespace orrery::app
