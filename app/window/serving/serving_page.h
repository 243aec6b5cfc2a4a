#pragma once

// The serving document: a fleet under traffic. Every edit of the form is simulated at once; the run can be played,
// stepped and scrubbed, two policies or two fleets stand side by side on the same
// requests, and any request can be followed. What
// answers an earlier question is dimmed and says so; what belongs to another project is gone.

#include "app/window/page.h"
#include "app/window/serving/serving_question.h"
#include "methods/method.h"
#include "methods/system/planned_fleet.h"
#include "serving/result_interval.h"
#include "widgets/canvas/placements.h"
#include "widgets/serving/replay.h"

#include <QElapsedTimer>
#include <QTimer>

class QComboBox;
class QPushButton;
class QSlider;
class QTabWidget;
class QToolButton;

namespace orrery::ui {
class BarlessTabs;
class CellsTable;
class FactList;
class FleetPicture;
class Label;
class LanePlot;
class LinePlot;
class PairPlot;
class ReplicaLanes;
class RequestLives;
class Veil;
}  // namespace orrery::ui

namespace orrery::app {

class Background;
class FleetDrawing;
class ServingForm;
class ServingSearch;

class ServingPage : public Page {
    Q_OBJECT
public:
    ServingPage(Studio& studio, QWidget* parent);
    ~ServingPage() override;

    PageCard card() const override;
    void join(Studio& studio) override;
    bool accepts(const OpenFile& file) const override;
    void open(const QString& path) override;
    bool showsAnswer() const override;
    Expected<QStringList> report(const QString& folder) override;

    /// The drawing whose devices serve. Looked into only while the page is seen.
    void setHardware(HardwarePtr hardware, ui::PlacementsPtr placements = nullptr);
    /// What is asked before a person has asked: one device of today, busy enough to see queues.
    static ServingStudy usualQuestion();
    /// The same with the scheduler as its engine begins on these devices, of that model (empty: the usual one).
    static ServingStudy usualQuestion(const HardwarePtr& hardware, const std::string& model);
    void setQuestion(const ServingStudy& question);
    const ServingStudy& question() const;

    ServingForm* form() const { return form_; }  ///< this and the other views: null until the page was seen
    ui::FleetPicture* fleet() const { return fleet_; }
    FleetDrawing* drawing() const { return drawing_; }
    ui::RequestLives* lives() const { return lives_; }
    ServingSearch* search() const { return search_; }
    QTabWidget* tabs() const;
    const ui::ServingRuns& runs() const { return runs_; }
    const std::vector<std::optional<ServingIntervals>>& intervals() const { return intervals_; }
    bool isBusy() const override;
    bool isPlaying() const { return frame_.isActive(); }
    SimTime time() const { return time_; }

signals:
    void edited(const orrery::ServingStudy& question);
    void answered();

protected:
    void build() override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitFleet();        ///< in a low window, the replicas give their room to a view of the whole run
    void followDocument();  ///< the document's design and question
    ServingStudy usual();   ///< of the document's design and its model, if that one can be served
    static constexpr int scrubSteps = 10000;  ///< of the slider over the whole run
    QWidget* buildTransport();
    QWidget* buildViews();
    QWidget* buildLatency(QWidget* parent);
    QWidget* buildLoad(QWidget* parent);
    void ask();
    void outdate();  ///< the question is another one than that of the runs
    void forget();   ///< another project: nothing of the runs stays
    void show(ServingAnswer answer);
    void note(const Diagnostics& warnings);  ///< below the headline: what a person would want to know of the run
    bool answersNow(const ServingAnswer& answer) const;
    void showPin();
    void pin(bool pinned);  ///< keeps the fleet that answers now, to stand beside the ones to come
    void showRuns(const PlannedFleet& planned);
    void showFigures();
    void makeSure();
    void showLatency();
    void showPairs();
    void showLife();
    void setTime(SimTime time);
    void follow(RequestIndex request);
    void play(bool on);
    void nextFrame();
    void step(bool backwards);
    void startLoadCurve();
    void take(const ServingStudy& question);  ///< a person has changed it
    void drawLoad();
    void checkLoad();  ///< that the curve is of this question
    void refuse(const Diagnostic& why);
    std::string trace() const;  ///< of all runs, as Chrome/Perfetto events
    void exportFront();         ///< the view in front, the figures or the timeline, as a file
    SimTime end() const;

    Studio* studio_ = nullptr;  ///< since it joined
    HardwarePtr hardware_;
    std::pair<std::string, bool> model_;  ///< of the document, and whether it can be served
    ui::PlacementsPtr placements_;
    ServingStudy question_;
    std::shared_ptr<IterationTimes> times_ = std::make_shared<IterationTimes>();
    Background *work_, *load_, *sure_;
    QTimer soon_, frame_;
    QElapsedTimer clock_;
    PinnedFleetPtr pinned_;
    bool outdated_ = false;  ///< runs_ answer an earlier question
    bool stale_ = true;
    ui::ServingRuns runs_;
    std::vector<std::optional<ServingIntervals>> intervals_;  ///< of each run, when they have come
    std::vector<std::unique_ptr<ui::Replay>> replays_;
    SimTime time_ = 0;
    RequestIndex current_ = no_request;

    ServingForm* form_ = nullptr;
    QToolButton *play_ = nullptr, *back_ = nullptr, *forward_ = nullptr, *rewind_ = nullptr;
    QSlider* scrub_ = nullptr;
    QComboBox *speed_ = nullptr, *figure_ = nullptr;
    ui::Label *now_ = nullptr, *headline_ = nullptr, *notes_ = nullptr, *loadState_ = nullptr;
    ui::FleetPicture* fleet_ = nullptr;
    FleetDrawing* drawing_ = nullptr;
    ui::BarlessTabs* tabs_ = nullptr;
    ui::LanePlot* lanes_ = nullptr;
    ui::ReplicaLanes* iterations_ = nullptr;
    ui::RequestLives* lives_ = nullptr;
    ui::FactList* life_ = nullptr;
    ui::LinePlot *latency_ = nullptr, *loadPlot_ = nullptr;
    ui::PairPlot* pairs_ = nullptr;
    ui::CellsTable* figures_ = nullptr;
    QPushButton *loadRun_ = nullptr, *pin_ = nullptr;
    ServingSearch* search_ = nullptr;
    ui::Veil *veil_ = nullptr, *loadVeil_ = nullptr;
    std::optional<ServingStudy> loadAsked_;  ///< that the curve answers, or will
    HardwarePtr loadHardware_;
    PinnedFleetPtr loadPinned_;
    std::vector<ui::PlotLine> loadLines_;
    std::vector<ui::PlotMark> capacities_;
};

}  // namespace orrery::app
