package event

// Form says which times an execution of a construct has, and which of them are overhead. Reports
// and the analysis of overheads follow it. A construct that ompP lacks has the form of the most
// similar construct that ompP has.
type Form struct {
	// Columns of the construct's block in reports, by their titles, behind execT and execC.
	Columns []string
	// Leaf: the construct's time is not split into its own and that of regions inside. ompP
	// does not split the time of locks either.
	Leaf     bool
	Overhead Overhead
}

// Overhead says which of a construct's times are overhead, and of which class.
type Overhead uint8

// The kinds of overhead. A wait leaves out the tasks that the thread executed meanwhile.
const (
	NoOverhead    Overhead = iota // the program's own work
	WholeSynch                    // the whole time is Synch
	WaitSynch                     // the whole time is a wait, and Synch
	GuardSynch                    // getting in is Synch, leaving is Mgmt
	TransferMgmt                  // beginning and ending are Mgmt
	ShareImbal                    // the final wait is Imbal
	TeamImbal                     // the same; starting and ending the team are Mgmt
	SectionsImbal                 // the final wait is Imbal or Limpar; time in no section is Mgmt
	TeamSections                  // the same wait; starting and ending the team are Mgmt
	ShareLimpar                   // the final wait is Limpar
	TasksSynch                    // waiting for tasks is Synch; ompP has no such class
	CreationMgmt                  // the own time is Mgmt; ompP has no such class
)

// The forms.
var (
	whole        = &Form{}
	operation    = &Form{Leaf: true, Overhead: WholeSynch}
	cancellation = &Form{Columns: []string{"cancelC"}, Leaf: true, Overhead: WholeSynch}
	barrier      = &Form{Columns: []string{"taskT"}, Leaf: true, Overhead: WaitSynch}
	guard        = &Form{Columns: []string{"bodyT", "enterT", "exitT"}, Overhead: GuardSynch}
	lock         = &Form{Columns: guard.Columns, Leaf: true, Overhead: GuardSynch}
	deviceData   = &Form{Columns: guard.Columns, Overhead: TransferMgmt}
	transfer     = &Form{Leaf: true, Overhead: TransferMgmt}
	share        = &Form{Columns: []string{"bodyT", "exitBarT", "taskT"}, Overhead: ShareImbal}
	team         = &Form{Columns: []string{"bodyT", "exitBarT", "startupT", "shutdwnT", "taskT"},
		Overhead: TeamImbal}
	league = &Form{Columns: []string{"bodyT", "teamC", "exitBarT", "startupT", "shutdwnT", "taskT"},
		Overhead: TeamImbal}
	sections = &Form{Columns: []string{"sectT", "sectC", "exitBarT", "mgmtT", "taskT"},
		Overhead: SectionsImbal}
	teamSections = &Form{Columns: []string{"sectT", "sectC", "exitBarT", "startupT", "shutdwnT", "taskT"},
		Overhead: TeamSections}
	single    = &Form{Columns: []string{"singleT", "singleC", "exitBarT", "taskT"}, Overhead: ShareLimpar}
	creation  = &Form{Overhead: CreationMgmt}
	taskLoop  = &Form{Columns: []string{"taskT"}, Overhead: CreationMgmt}
	execution = &Form{Columns: []string{"queueT"}}
	parts     = &Form{Columns: []string{"queueT", "partC"}} // an execution that may change threads
	taskWait  = &Form{Columns: []string{"taskT"}, Overhead: TasksSynch}
	taskGroup = &Form{Columns: []string{"waitT", "taskT"}, Overhead: TasksSynch}
	call      = &Form{Leaf: true}
)

// Form returns the construct's form; the zero value for NoConstruct and for an invalid number.
func (c Construct) Form() Form {
	if f := c.Traits().Form; f != nil {
		return *f
	}
	return Form{}
}
