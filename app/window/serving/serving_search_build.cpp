#include "app/window/form_parts.h"
#include "app/window/serving/search_choices.h"
#include "app/window/serving/serving_search.h"
#include "widgets/common/label.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/serving/front_plot.h"

#include <QCheckBox>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace orrery::app {

QWidget* ServingSearch::buildChoices() {
    const int unit = ui::Theme::instance().unit();
    auto* area = named(new QScrollArea(this), "serving.search", tr("What is searched"),
                       tr("Tick what may change; every combination is simulated"));
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setFocusPolicy(Qt::NoFocus);
    area->setFixedWidth(static_cast<int>(42 * unit * ui::formGrowth(ui::Theme::instance().scale())));
    auto* inner = new QWidget;
    auto* column = new QVBoxLayout(inner);
    column->setContentsMargins(unit, 0, unit, unit);
    column->setSpacing(unit / 2);
    column->addWidget(new ui::SectionHeader(tr("Capacity"), inner));
    capacityFields_ = new FieldFold(
        QStringLiteral("serving.capacity"), tr("SLO to meet"),
        tr("Share of requests that must meet the SLO, and the precision of the search"),
        [](const ServingStudy& q) {
            return tr("by %1 of requests, within %2")
                .arg(ui::percentText(q.capacity.attainment), ui::percentText(q.capacity.tolerance));
        },
        inner);
    capacityFields_->rows().section("capacity");
    column->addWidget(capacityFields_);
    capacityRun_ = named(new QPushButton(inner), "serving.capacity.run", tr("Find the capacity"), {});
    column->addWidget(capacityRun_);
    column->addWidget(new ui::SectionHeader(tr("Configurations"), inner));
    choices_ = new SearchChoices(inner);
    column->addWidget(choices_);
    capacities_ = named(new QCheckBox(tr("Each at its own capacity"), inner), "serving.search.capacities",
                        tr("Each at its own capacity"),
                        tr("Searches the capacity of every configuration instead of simulating the set load: about ten "
                           "simulations each"));
    column->addWidget(capacities_);
    sweepRun_ = named(new QPushButton(inner), "serving.search.run", tr("Search the configurations"),
                      tr("Simulates every combination of the ticked values, on all CPU cores"));
    column->addWidget(sweepRun_);
    column->addStretch(1);
    area->setWidget(inner);
    connect(choices_, &SearchChoices::edited, this, &ServingSearch::edited);
    connect(capacityFields_, &FieldFold::edited, this, &ServingSearch::edited);
    connect(sweepRun_, &QPushButton::clicked, this, &ServingSearch::startSweep);
    connect(capacityRun_, &QPushButton::clicked, this, &ServingSearch::startCapacity);
    return area;
}

QWidget* ServingSearch::buildResults() {
    const int unit = ui::Theme::instance().unit();
    auto* right = new QWidget(this);
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit / 2);
    auto* top = new QHBoxLayout;
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, right);
    state_->setObjectName(QStringLiteral("serving.search.state"));
    state_->setElided(true);
    bar_ = named(new QProgressBar(right), "serving.search.progress", tr("Progress of the search"),
                 tr("Share of the configurations that are done"));
    bar_->setTextVisible(false);
    bar_->setFixedWidth(unit * 20);
    bar_->setVisible(false);
    top->addWidget(state_, 1);
    top->addWidget(bar_);
    column->addLayout(top);
    stack_ = new QStackedWidget(right);
    load_ = new ui::LinePlot(QStringLiteral("serving.capacity.plot"), tr("SLO attainment by load"),
                             tr("Every load that was tried. The mark is the highest that meets the SLO"), stack_);
    load_->setEmptySentence(
        tr("Find the capacity: the highest request rate that meets the SLO. Or tick what may change and search the "
           "configurations."));
    stack_->addWidget(load_);
    auto* split = named(new QSplitter(Qt::Horizontal, stack_), "serving.search.split", tr("Front and table"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    auto* left = new QWidget(split);
    auto* plotColumn = new QVBoxLayout(left);
    plotColumn->setContentsMargins(0, 0, 0, 0);
    plotColumn->setSpacing(unit / 2);
    const auto axis = [&](const char* id, const QString& name, const QString& tip, int usual) {
        auto* box = namedChoice(left, id, name, tip);
        for (std::size_t i = 0; i < searchFigures().size(); ++i) {
            box->addItem(searchFigures()[i].head, static_cast<int>(i));
            box->setItemData(box->count() - 1, searchFigures()[i].tip, Qt::ToolTipRole);
        }
        box->setCurrentIndex(usual);
        box->setMinimumContentsLength(16);
        connect(box, &QComboBox::activated, this, &ServingSearch::showPlot);
        return box;
    };
    up_ = axis("serving.search.up", tr("Y axis"), tr("Figure on the vertical axis"), 3);
    across_ = axis("serving.search.across", tr("X axis"), tr("Figure on the horizontal axis"), 4);
    plotColumn->addWidget(up_, 0, Qt::AlignLeft);
    plot_ = new ui::FrontPlot(
        QStringLiteral("serving.search.plot"), tr("Configurations by two figures"),
        tr("Filled points meet the SLO and are best in cost, TTFT p99 and TPOT p99. Click one to choose it"), left);
    plot_->setEmptySentence(tr("Every configuration that ran appears here as it comes."));
    plotColumn->addWidget(plot_, 1);
    plotColumn->addWidget(across_, 0, Qt::AlignRight);
    table_ = new ui::CellsTable(QStringLiteral("serving.search.table"), tr("Configurations"),
                                tr("A click on a head sorts; a click on a row chooses"), split);
    split->addWidget(left);
    split->addWidget(table_);
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 3);
    split->setSizes({320, 640});
    auto* sweep = new QWidget(stack_);
    auto* sweepColumn = new QVBoxLayout(sweep);
    sweepColumn->setContentsMargins(0, 0, 0, 0);
    sweepColumn->setSpacing(unit / 2);
    sweepColumn->addWidget(split, 1);
    auto* bottom = new QHBoxLayout;
    chosenText_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Normal, sweep);
    chosenText_->setObjectName(QStringLiteral("serving.search.chosen"));
    chosenText_->setElided(true);
    use_ = named(new QPushButton(tr("Use this"), sweep), "serving.search.use", tr("Use this configuration"),
                 tr("Makes it the fleet of the form at the left; one undo step"));
    bottom->addWidget(chosenText_, 1);
    bottom->addWidget(use_);
    sweepColumn->addLayout(bottom);
    stack_->addWidget(sweep);
    column->addWidget(stack_, 1);
    veil_ = new ui::Veil(stack_);
    connect(plot_, &ui::FrontPlot::chosen, this, &ServingSearch::choose);
    connect(table_, &ui::CellsTable::rowChosen, this, [this](int row) {
        if (row >= 0 && row < static_cast<int>(rows_.size())) choose(rows_[static_cast<std::size_t>(row)]);
    });
    connect(use_, &QPushButton::clicked, this, &ServingSearch::useChosen);
    return right;
}

}  // namespace orrery::app
