#include "app/document/background.h"
#include "app/window/form_parts.h"
#include "app/window/serving/fleet_drawing.h"
#include "app/window/serving/serving_page.h"
#include "app/window/serving/serving_search.h"
#include "widgets/common/fact_list.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/tab_stack.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/serving/lane_plot.h"
#include "widgets/serving/line_plot.h"
#include "widgets/serving/pair_plot.h"
#include "widgets/serving/replica_lanes.h"
#include "widgets/serving/request_lives.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSlider>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

namespace orrery::app {

QWidget* ServingPage::buildTransport() {
    const int unit = ui::Theme::instance().unit();
    auto* bar = new QWidget(this);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(unit / 2);
    const auto button = [&](const QString& icon, const QString& name, const char* id) {
        auto* made = new ui::IconButton(icon, name, QLatin1String(id), bar);
        row->addWidget(made);
        return made;
    };
    rewind_ = button(QStringLiteral("media-skip-backward"), tr("To the beginning"), "serving.rewind");
    back_ = button(QStringLiteral("media-seek-backward"), tr("Back to the previous iteration"), "serving.back");
    play_ = button(QStringLiteral("media-playback-start"), tr("Play or pause"), "serving.play");
    play_->setCheckable(true);
    forward_ = button(QStringLiteral("media-seek-forward"), tr("On to the next iteration"), "serving.forward");
    scrub_ =
        named(new QSlider(Qt::Horizontal, bar), "serving.scrub", tr("Moment of the run"), tr("Drag through the run"));
    scrub_->setRange(0, scrubSteps);
    row->addWidget(scrub_, 1);
    speed_ = named(new QComboBox(bar), "serving.speed", tr("Speed of playing"), tr("Simulated time per second"));
    for (const auto& [text, factor] : std::initializer_list<std::pair<QString, double>>{{tr("1/100 speed"), 0.01},
                                                                                        {tr("1/10 speed"), 0.1},
                                                                                        {tr("real time"), 1.0},
                                                                                        {tr("10 × faster"), 10.0},
                                                                                        {tr("100 × faster"), 100.0}})
        speed_->addItem(text, factor);
    speed_->setCurrentIndex(2);
    row->addWidget(speed_);
    now_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, bar);
    now_->setObjectName(QStringLiteral("serving.now"));
    now_->setMinimumWidth(unit * 18);
    row->addWidget(now_);
    pin_ = named(new QPushButton(tr("Pin this fleet"), bar), "serving.pin", tr("Pin this fleet"),
                 tr("Keeps this fleet for comparison: later fleets get the same requests, and every figure shows the "
                    "difference"));
    pin_->setCheckable(true);
    pin_->setEnabled(false);
    row->addWidget(pin_);
    connect(pin_, &QPushButton::toggled, this, &ServingPage::pin);
    auto* out =
        button(QStringLiteral("document-export"), tr("Export the view, the figures or the timeline"), "serving.export");
    connect(out, &QToolButton::clicked, this, &ServingPage::exportFront);
    connect(rewind_, &QToolButton::clicked, this, [this] { setTime(0); });
    connect(back_, &QToolButton::clicked, this, [this] { step(true); });
    connect(forward_, &QToolButton::clicked, this, [this] { step(false); });
    connect(play_, &QToolButton::toggled, this, &ServingPage::play);
    connect(scrub_, &QSlider::sliderMoved, this,
            [this](int at) { setTime(static_cast<SimTime>(static_cast<double>(end()) * at / scrubSteps)); });
    return bar;
}

QWidget* ServingPage::buildViews() {
    tabs_ = named(new ui::BarlessTabs(this), "serving.views", tr("Results"), tr("The run in figures and pictures"));
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("serving.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("Results"));
    tabs_->tabBar()->setToolTip(tr("The run in figures and pictures"));
    figures_ = new ui::CellsTable(QStringLiteral("serving.figures"), tr("Figures"),
                                  tr("One definition each; hover a name to read it"), tabs_);
    auto* overTime = named(new QSplitter(Qt::Vertical, tabs_), "serving.time.split", tr("Over time"),
                           tr("Above the whole run, below iteration by iteration"));
    overTime->setChildrenCollapsible(false);
    lanes_ = new ui::LanePlot(overTime);
    iterations_ = new ui::ReplicaLanes(overTime);
    overTime->addWidget(lanes_);
    overTime->addWidget(iterations_);
    overTime->setStretchFactor(0, 3);
    overTime->setStretchFactor(1, 2);
    auto* requests = named(new QSplitter(Qt::Horizontal, tabs_), "serving.requests.split", tr("Requests"),
                           tr("Drag the border to give one side more room"));
    requests->setChildrenCollapsible(false);
    lives_ = new ui::RequestLives(requests);
    auto* side = new QWidget(requests);
    auto* facts = new QVBoxLayout(side);
    facts->setContentsMargins(8, 8, 0, 0);
    life_ = new ui::FactList(side);
    life_->setObjectName(QStringLiteral("serving.life"));
    side->setMinimumWidth(static_cast<int>(28 * ui::Theme::instance().unit() * ui::Theme::instance().scale()));
    facts->addWidget(life_);
    facts->addStretch(1);
    requests->addWidget(lives_);
    requests->addWidget(side);
    requests->setStretchFactor(0, 3);
    requests->setStretchFactor(1, 1);
    pairs_ = new ui::PairPlot(tabs_);
    tabs_->addTab(overTime, tr("Over time"));
    drawing_ = new FleetDrawing(tabs_);
    tabs_->addTab(drawing_, tr("On the drawing"));
    tabs_->addTab(requests, tr("Requests"));
    tabs_->addTab(buildLatency(tabs_), tr("Latency"));
    tabs_->addTab(pairs_, tr("Side by side"));
    tabs_->addTab(buildLoad(tabs_), tr("Load curve"));
    search_ = new ServingSearch(times_, tabs_);
    tabs_->addTab(search_, tr("Search"));
    tabs_->addTab(figures_, tr("Figures"));
    return tabs_;
}

QWidget* ServingPage::buildLatency(QWidget* parent) {
    auto* page = new QWidget(parent);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 4, 0, 0);
    figure_ = named(new QComboBox(page), "serving.figure", tr("Latency"), tr("Which latency is shown"));
    for (const ui::RequestFigure figure :
         {ui::RequestFigure::Ttft, ui::RequestFigure::Tpot, ui::RequestFigure::EndToEnd})
        figure_->addItem(ui::nameOf(figure), static_cast<int>(figure));
    latency_ = new ui::LinePlot(QStringLiteral("serving.latency"), tr("Distribution of latencies"),
                                tr("Share of requests that are at least as fast; hover to read it"), page);
    latency_->setEmptySentence(tr("The share of requests within any latency will appear here."));
    column->addWidget(figure_, 0, Qt::AlignLeft);
    column->addWidget(latency_, 1);
    connect(figure_, &QComboBox::activated, this, [this] {
        showLatency();
        showPairs();
    });
    return page;
}

QWidget* ServingPage::buildLoad(QWidget* parent) {
    auto* page = new QWidget(parent);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 4, 0, 0);
    auto* row = new QHBoxLayout;
    loadRun_ = named(
        new QPushButton(tr("Compute the curve"), page), "serving.load.run", tr("Compute the load curve"),
        tr("Simulates rates from one fifth to twice the set rate, and higher until half of the requests miss the SLO"));
    loadState_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, page);
    loadState_->setElided(true);
    row->addWidget(loadRun_);
    row->addWidget(loadState_, 1);
    loadPlot_ = new ui::LinePlot(QStringLiteral("serving.load"), tr("SLO attainment by load"),
                                 tr("SLO attainment at each request rate"), page);
    column->addLayout(row);
    column->addWidget(loadPlot_, 1);
    loadVeil_ = new ui::Veil(loadPlot_);
    connect(loadRun_, &QPushButton::clicked, this, [this] { load_->isRunning() ? load_->cancel() : startLoadCurve(); });
    connect(load_, &Background::advanced, this, [this] {
        loadRun_->setText(tr("Stop"));
        loadState_->setFullText(tr("%1 done").arg(ui::percentText(load_->fraction())));
    });
    connect(load_, &Background::ended, this, [this] { loadRun_->setText(tr("Compute the curve")); });
    return page;
}

}  // namespace orrery::app
